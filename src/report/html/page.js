/* SPDX-License-Identifier: MIT
 * The map of the tensors and the search, of each model of the page. Without this script the page is whole, but for
 * these two.
 *
 * tensors.c says what the data is. A node of the tree is a module, or one tensor:
 * {name, parent, children: Map or null, tensor, count, size, parameters, bytes, states}. */
'use strict';
(() => {
  /* A table that is wider than the window can be scrolled with the keyboard once it has the focus. */
  new ResizeObserver(() => {
    for (const wide of document.querySelectorAll('section > .wide, details > .wide'))
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
      else wide.removeAttribute('tabindex');
  }).observe(document.body);

  addEventListener('beforeprint', () => {
    for (const details of document.querySelectorAll('details')) details.open = true;
  });

  const MOST_FOUND = 100; /* tensors that the search lists */
  const MOST_BOXES = 4000; /* of the map: more are too small to be seen, and slow */
  const HUES = 6, HEAD = 18, GAP = 2, SMALLEST = 5, LABEL_SIDE = 5; /* pixels, but for the hues; see .box */
  const STATES = ['as predicted', 'note', 'warning', 'error', 'added', 'removed', 'changed'];

  const ink = document.createElement('canvas').getContext('2d'); /* measures labels */
  ink.font = '12px system-ui, sans-serif';

  /* ---- data ---- */

  /* "3.0-2" -> ["3","0"], ["3","1"], ["3","2"] */
  function* tuples(ranges) {
    for (const range of ranges.split(' ')) {
      const dash = range.indexOf('-');
      if (dash < 0) {
        yield range.split('.');
        continue;
      }
      const parts = range.slice(0, dash).split('.'), end = Number(range.slice(dash + 1));
      for (let value = Number(parts.pop()); value <= end; value++) yield [...parts, String(value)];
    }
  }

  function* tensorsOf(data) {
    const text = (index) => (index < 0 ? null : data.strings[index]);
    for (const cells of data.rows) {
      const row = {
        dtype: text(cells[2]), before: text(cells[3]), after: text(cells[4]), parameters: cells[5], bytes: cells[6],
        parametersBefore: cells[7], bytesBefore: cells[8], shard: text(cells[9]), group: text(cells[10]),
        state: cells[11], note: text(cells[12]),
      };
      row.words = [row.dtype, row.before, row.after, row.shard, row.group, row.note,
        row.state ? STATES[row.state] : ''].join('\n').toLowerCase();
      const pieces = data.patterns[cells[0]];
      if (pieces.length === 1) {
        yield {name: pieces[0], row};
        continue;
      }
      for (const indices of tuples(cells[1])) {
        let name = pieces[0];
        for (let i = 1; i < pieces.length; i++) name += indices[i - 1] + pieces[i];
        yield {name, row};
      }
    }
  }

  const blankRow = {dtype: null, before: null, after: null, shard: null, group: null, state: 0, note: null, words: '',
    parameters: 0, bytes: 0, parametersBefore: 0, bytesBefore: 0};

  /* The tensors for which the page has no room, as one. */
  function othersOf(data) {
    const row = {...blankRow, count: data.left_out.tensors, ...data.left_out};
    return {name: `[${grouped(row.count)} others]`, row};
  }

  /* The bytes of the files that belong to no tensor, one for each use. */
  const PARTS = {unused: 'data of no tensor', padding: 'between data, for alignment',
    structure: 'headers, names and metadata', unaccounted: 'bytes of unknown use'};
  const partsOf = (data) => data.parts.map(([name, bytes]) =>
    ({name: `[${name}]`, row: {...blankRow, count: 0, bytes, note: PARTS[name]}}));

  const sizeOf = {
    parameters: (row) => Math.max(row.parameters, row.parametersBefore),
    bytes: (row) => Math.max(row.bytes, row.bytesBefore),
  };

  /* ---- figures ---- */

  const grouped = (number) => number.toLocaleString('en-US');
  function short(number) {
    const units = ['', ' K', ' M', ' B', ' T'];
    let unit = 0;
    for (; number >= 999.5 && unit + 1 < units.length; unit++) number /= 1000;
    return (unit ? number.toPrecision(3) : String(number)) + units[unit];
  }
  function bytesText(number) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let unit = 0;
    for (; number >= 1023.95 && unit + 1 < units.length; unit++) number /= 1024;
    return (unit ? number.toFixed(1) : number) + ' ' + units[unit];
  }
  const plural = (count, word) => grouped(count) + ' ' + word + (count === 1 ? '' : 's');
  const signed = (number, show) => (number > 0 ? '+' : number < 0 ? '-' : '') + show(Math.abs(number));

  /* ---- the tree ---- */

  const components = (name) => name.split(/[./]/);
  /* What comes in front of the components of a name, for each view. */
  const views = {
    module: () => [],
    layer: (tensor, parts) => {
      const at = parts.findIndex((part) => /^\d+$/.test(part));
      return at < 0 ? ['outside of layers'] : [parts.splice(0, at + 1).join('.')];
    },
    group: (tensor) => [tensor.row.group || 'no group'],
    dtype: (tensor) => [tensor.row.dtype || 'not in the file'],
    shard: (tensor) => [tensor.row.shard || 'not in the file'],
    'use of bytes': (tensor, parts, kind) => [kind === 'check' && !tensor.row.after ? 'not in the file' : 'tensors'],
  };

  function makeNode(name, parent) {
    return {name, parent, children: null, tensor: null, count: 0, size: 0, states: 0, row: null,
      parameters: 0, bytes: 0, parametersBefore: 0, bytesBefore: 0};
  }

  /* `count` is a key of the rows that are no tensors of a page: they are boxes beside the others. */
  function buildTree(list, view, measure, kind) {
    const root = makeNode('all', null), size = sizeOf[measure];
    for (const tensor of list) {
      const row = tensor.row, isBeside = 'count' in row, parts = isBeside ? [tensor.name] : components(tensor.name);
      const path = isBeside ? parts : [...views[view](tensor, parts, kind), ...parts];
      let node = root;
      for (let i = 0; ; i++) {
        node.count += row.count ?? 1;
        node.size += size(row);
        node.states |= 1 << row.state;
        for (const sum of ['parameters', 'bytes', 'parametersBefore', 'bytesBefore']) node[sum] += row[sum];
        if (i === path.length) break;
        node.children = node.children || new Map();
        const key = (i + 1 === path.length ? '=' : '.') + path[i]; /* "a" may be a tensor and a module */
        if (!node.children.has(key)) node.children.set(key, makeNode(path[i], node));
        node = node.children.get(key);
      }
      node.tensor = tensor;
    }
    joinChains(root);
    return root;
  }

  /* A module with a single child is one node with it. */
  function joinChains(node) {
    while (node.children && node.children.size === 1 && node.parent) {
      const [child] = node.children.values();
      node.name += '.' + child.name;
      node.children = child.children;
      node.tensor = child.tensor;
      if (node.children) for (const grandchild of node.children.values()) grandchild.parent = node;
    }
    if (node.children) for (const child of node.children.values()) joinChains(child);
  }

  const bySize = (node) => [...node.children.values()].filter((child) => child.size > 0)
    .sort((a, b) => b.size - a.size);

  /* ---- squarified treemap (Bruls, Huizing, van Wijk 2000) ----
   * Children are laid in rows along the shorter side of what is free; a row ends where one more child would make its
   * worst aspect ratio worse. Calls put(child, x, y, width, height). */
  function squarify(children, x, y, width, height, put) {
    let left = children.reduce((sum, child) => sum + child.size, 0);
    for (let begin = 0; begin < children.length && width > 0 && height > 0;) {
      const side = Math.min(width, height), scale = width * height / left;
      let end = begin, sum = 0, worst = Infinity;
      for (; end < children.length; end++) {
        const more = sum + children[end].size, thickness = more * scale / side;
        const ratio = Math.max(thickness * thickness / (children[end].size * scale),
          children[begin].size * scale / (thickness * thickness));
        if (ratio > worst) break;
        worst = ratio;
        sum = more;
      }
      const thickness = sum * scale / side;
      let at = 0;
      for (let i = begin; i < end; i++) {
        const length = children[i].size * scale / thickness;
        if (width >= height) put(children[i], x, y + at, thickness, length);
        else put(children[i], x + at, y, length, thickness);
        at += length;
      }
      if (width >= height) x += thickness, width -= thickness;
      else y += thickness, height -= thickness;
      left -= sum;
      begin = end;
    }
  }

  /* ---- elements ---- */

  function make(tag, properties, ...children) {
    const node = Object.assign(document.createElement(tag), properties);
    node.append(...children);
    return node;
  }

  function choice(label, names, change) {
    const select = make('select', {}, ...names.map((name) => make('option', {value: name, textContent: name})));
    select.addEventListener('change', change);
    return {select, label: make('label', {}, label + ' ', select)};
  }

  /* ---- a model: its map goes into `place`, its data is in `element` ---- */

  const searches = [];

  function showModel(place, element, isOnly) {
    const data = JSON.parse(element.textContent), tensors = [...tensorsOf(data)];
    const others = data.left_out ? [othersOf(data)] : [], parts = data.parts ? partsOf(data) : [];
    const isDiff = data.kind === 'diff', judges = data.kind !== 'inspect';

    /* The worst state of what is in a node; of a diff "changed" when there are several. */
    function stateOf(node) {
      if (isDiff && (node.states & (node.states - 1))) return node.states & ~3 ? 6 : 1;
      return 31 - Math.clz32(node.states);
    }

    const has = (key) => tensors.some((tensor) => tensor.row[key]);
    const isOffered = {module: true, layer: true, group: has('group'), dtype: has('dtype'), shard: has('shard'),
      'use of bytes': parts.length > 0};
    const by = choice('by', Object.keys(views).filter((view) => isOffered[view]), () => rebuild());
    const measure = choice('size', ['parameters', 'bytes'], () => rebuild());
    const showsBytes = () => by.select.value === 'use of bytes' || measure.select.value === 'bytes';
    const search = make('input', {type: 'search', placeholder: 'name, dtype, shape, finding', spellcheck: false});
    searches.push(search);
    const trail = make('ol', {className: 'trail'});
    const map = make('div', {className: 'map'});
    const about = make('div', {className: 'about'});
    const found = make('div', {className: 'found'});
    map.setAttribute('role', 'group');
    map.setAttribute('aria-label', 'Map of the tensors: arrow keys move, Enter opens a module, Escape goes back');
    about.setAttribute('aria-live', 'polite');
    found.setAttribute('aria-live', 'polite');
    place.append(
      make('div', {className: 'tools'}, make('label', {}, 'search ', search), by.label, measure.label), found,
      make('nav', {ariaLabel: 'Where in the model'}, trail), map, legend(), about,
      make('p', {className: 'dim', textContent:
        'A click opens a module. With the keyboard: / searches, arrow keys move in the map, Enter opens, ' +
        'Escape goes back.'}));

    let root, here, boxes = []; /* of `here`: its children, in the order of their buttons */

    function legend() {
      const shown = new Set(tensors.map((tensor) => tensor.row.state));
      if (!judges || shown.size < 2) return '';
      return make('div', {className: 'legend'}, ...[...shown].sort().map((state) =>
        make('span', {className: 'box-legend state-' + state,
          textContent: state ? STATES[state] : isDiff ? 'same' : STATES[0]})));
    }

    const path = (node) => (node.parent ? [...path(node.parent), node] : []);
    const pathText = (node) => path(node).map((step) => step.name).join('.');

    /* What is known of a node: sums of a module; shapes, dtype, shard and finding of a tensor. */
    function describe(node) {
      const lines = [], row = node.tensor && node.tensor.row;
      lines.push(make('p', {}, make('code', {textContent: node.tensor ? node.tensor.name : pathText(node) || 'all'})));
      const sums = [plural(node.count, 'tensor'), grouped(node.parameters) + ' parameters', bytesText(node.bytes)];
      if (isDiff) {
        sums[1] += ' (' + signed(node.parameters - node.parametersBefore, grouped) + ')';
        sums[2] += ' (' + signed(node.bytes - node.bytesBefore, bytesText) + ')';
      }
      if (root.size) sums.push((100 * node.size / root.size).toFixed(1) + ' % of ' + (showsBytes() ? 'bytes' : 'parameters'));
      lines.push(make('p', {textContent: sums.join(', ')}));
      if (row) {
        const labels = isDiff ? ['A', 'B'] : data.kind === 'check' ? ['predicted', 'stored'] : ['', ''];
        const facts = 'count' in row ? [] : [row.dtype, ...[row.before, row.after].map((shape, i) => (shape || judges) &&
          (labels[i] + ' ' + (shape || '\u2014')).trim()), row.group && 'group ' + row.group, row.shard];
        if (facts.some(Boolean)) lines.push(make('p', {textContent: facts.filter(Boolean).join(' \u00b7 ')}));
        if (row.note) lines.push(make('p', {className: 'severity ' + (STATES[row.state] || ''), textContent:
          (row.state ? STATES[row.state] + ': ' : '') + row.note}));
      } else if (judges && node.states & ~1) {
        const states = STATES.filter((name, i) => i && node.states & 1 << i);
        lines.push(make('p', {textContent: 'in it: ' + states.join(', ')}));
      }
      about.replaceChildren(...lines);
    }

    /* Colours tell names apart where there is nothing to judge; a number has the colour of what it counts. */
    const hues = new Map();
    function hueOf(node, around) {
      const kind = node.name.replace(/\d+/g, '');
      if (!/[^.]/.test(kind)) return around;
      if (!hues.has(kind)) hues.set(kind, hues.size % HUES);
      return hues.get(kind);
    }

    function boxClass(node, hue) {
      const state = stateOf(node);
      if (judges && node.children) return state < 2 ? 'box' : 'box within state-' + state;
      if (judges) return 'box state-' + state;
      return 'box hue-' + hue;
    }

    function placeBox(box, x, y, width, height) {
      box.style.left = x + 'px';
      box.style.top = y + 'px';
      box.style.width = width + 'px';
      box.style.height = height + 'px';
      map.append(box);
    }

    const label = (node) => node.name + ' \u00b7 ' + (showsBytes() ? bytesText : short)(node.size);

    /* As much of the label as a box of that width has room for: name and size, the name, the beginning of the name. */
    function fittedLabel(node, width) {
      const room = width - 2 * LABEL_SIDE, widthOf = (text) => ink.measureText(text).width;
      for (const text of [label(node), node.name]) if (widthOf(text) <= room) return text;
      for (let length = Math.floor(node.name.length * room / widthOf(node.name)); length >= 2; length--) {
        const text = node.name.slice(0, length) + '\u2026';
        if (widthOf(text) <= room) return text;
      }
      return '';
    }

    /* The boxes within a module, largest first, as long as they can be seen. They are for the eye and the mouse. */
    function drawInside(node, hue, x, y, width, height) {
      squarify(bySize(node), x + GAP, y + HEAD, width - 2 * GAP, height - HEAD - GAP, (child, left, top, w, h) => {
        const tint = hueOf(child, hue);
        if (w < SMALLEST || h < SMALLEST || map.childElementCount > MOST_BOXES) return;
        const box = make('div', {className: boxClass(child, tint), ariaHidden: 'true', title: pathText(child)});
        if (h >= HEAD) box.textContent = fittedLabel(child, w);
        if (child.children) box.classList.add('leads');
        box.addEventListener('mouseenter', () => describe(child));
        box.addEventListener('click', () => open(child));
        placeBox(box, left, top, w, h);
        if (child.children && h > 2 * HEAD && w > 40) drawInside(child, tint, left, top, w, h);
      });
    }

    function draw() {
      map.replaceChildren();
      boxes = here.children ? bySize(here) : [];
      squarify(boxes, 0, 0, map.clientWidth, map.clientHeight, (child, x, y, width, height) => {
        const hue = hueOf(child, 0);
        const box = make('button', {className: boxClass(child, hue), type: 'button', tabIndex: -1});
        box.append(height >= HEAD ? fittedLabel(child, width) : '');
        box.setAttribute('aria-label', label(child) + ', ' + plural(child.count, 'tensor') +
          (judges && stateOf(child) ? ', ' + STATES[stateOf(child)] : ''));
        box.addEventListener('mouseenter', () => describe(child));
        box.addEventListener('focus', () => describe(child));
        box.addEventListener('click', () => open(child));
        child.box = box;
        placeBox(box, x, y, width, height);
        if (child.children && height > 2 * HEAD && width > 40) drawInside(child, hue, x, y, width, height);
      });
      if (boxes.length && boxes[0].box) boxes[0].box.tabIndex = 0;
      if (!boxes.length) map.append(make('p', {className: 'dim', textContent: 'nothing of any size'}));
      trail.replaceChildren(...[root, ...path(here)].map((node, i, all) => {
        const button = make('button', {type: 'button', textContent: node.name});
        if (i + 1 === all.length) button.setAttribute('aria-current', 'location');
        button.addEventListener('click', () => open(node));
        return make('li', {}, button);
      }));
      describe(here);
    }

    /* Shows the inside of a module; of a tensor its description. */
    function open(node, focus) {
      if (!node.children) {
        describe(node);
        return;
      }
      const from = here;
      here = node;
      draw();
      if (focus) (boxes.find((child) => child === from) || boxes[0] || {}).box?.focus();
    }

    function rebuild() {
      const list = matching();
      const isUse = by.select.value === 'use of bytes', beside = isUse ? [...others, ...parts] : others;
      measure.select.disabled = isUse;
      root = buildTree(list === tensors ? [...tensors, ...beside] : list, by.select.value,
        showsBytes() ? 'bytes' : 'parameters', data.kind);
      here = root;
      draw();
    }

    /* ---- the search ---- */

    /* The tensors that have every word in their names, or in what else is known of them. */
    function matching() {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.length) return tensors;
      return tensors.filter((tensor) => words.every((word) =>
        tensor.row.words.includes(word) || tensor.name.toLowerCase().includes(word)));
    }

    function find(node, tensor) {
      if (node.tensor === tensor) return node;
      for (const child of node.children ? node.children.values() : []) {
        const there = find(child, tensor);
        if (there) return there;
      }
      return null;
    }

    function show(tensor) {
      const node = find(root, tensor);
      if (!node) return;
      open(node.parent || root);
      describe(node);
      const box = node.box;
      if (box && box.isConnected) box.focus();
      else map.scrollIntoView({block: 'nearest'});
    }

    function listFound() {
      const list = matching();
      if (list === tensors) {
        found.replaceChildren();
        return;
      }
      const sum = list.reduce((all, tensor) => all + sizeOf.parameters(tensor.row), 0);
      const rows = list.slice(0, MOST_FOUND).map((tensor) => {
        const row = tensor.row, button = make('button', {type: 'button'}, make('code', {textContent: tensor.name}));
        button.addEventListener('click', () => show(tensor));
        return make('tr', {}, make('td', {}, button),
          ...[row.dtype, ...(judges ? [row.before] : []), row.after].map((cell) =>
            make('td', {textContent: cell || '\u2014'})),
          make('td', {className: 'number', textContent: grouped(sizeOf.parameters(row))}),
          make('td', {}, make('span', {className: 'severity ' + STATES[row.state], textContent:
            row.state ? STATES[row.state] + ' ' : ''}), row.note || ''));
      });
      const more = list.length > MOST_FOUND ? '; the first ' + MOST_FOUND : '';
      found.replaceChildren(
        make('p', {textContent: plural(list.length, 'tensor') + ', ' + grouped(sum) + ' parameters' + more}),
        make('div', {className: 'wide'}, make('table', {}, make('tbody', {}, ...rows))));
    }

    /* ---- keyboard ---- */

    /* The box whose centre is nearest in that direction. */
    function neighbour(from, dx, dy) {
      const centre = (box) => [box.offsetLeft + box.offsetWidth / 2, box.offsetTop + box.offsetHeight / 2];
      const [x, y] = centre(from);
      let best = null, least = Infinity;
      for (const {box} of boxes) {
        if (!box || box === from) continue;
        const [p, q] = centre(box), along = (p - x) * dx + (q - y) * dy;
        const aside = Math.abs((p - x) * dy) + Math.abs((q - y) * dx);
        if (along > 0.5 && along + 2 * aside < least) least = along + 2 * aside, best = box;
      }
      return best;
    }

    const arrows = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    map.addEventListener('keydown', (event) => {
      const box = document.activeElement, node = boxes.find((child) => child.box === box);
      if (event.key === 'Escape' || event.key === 'Backspace') {
        if (here.parent) open(here.parent, true);
      } else if (event.key === 'Enter' && node) open(node, true);
      else if (arrows[event.key] && node) {
        const next = neighbour(box, ...arrows[event.key]);
        if (next) box.tabIndex = -1, next.tabIndex = 0, next.focus();
      } else return;
      event.preventDefault();
    });

    let waiting;
    search.addEventListener('input', () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { listFound(); rebuild(); }, 120);
    });

    /* A link to the page may carry what is shown: report.html#search=mlp%20F32&by=layer&size=bytes. On a page of
     * several models it names the model. */
    function follow() {
      const wanted = new URLSearchParams(isOnly ? location.hash.slice(1) : '');
      search.value = wanted.get('search') || '';
      for (const [key, select] of [['by', by.select], ['size', measure.select]])
        if ([...select.options].some((option) => option.value === wanted.get(key))) select.value = wanted.get(key);
      listFound();
      rebuild();
    }
    if (isOnly) addEventListener('hashchange', follow);

    new ResizeObserver(() => draw()).observe(map);
    follow();
  }

  /* ---- the page ---- */

  const isVisible = (node) => {
    const {top, bottom} = node.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  };
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
    const search = searches.find(isVisible) || searches[0];
    if (!search) return;
    event.preventDefault();
    search.focus();
  });

  /* The map of a model is made when the model comes near the window: a page may have a hundred. */
  const places = [...document.querySelectorAll('.map-place')];
  const showPlace = (place) => showModel(place, place.parentElement.querySelector('script'), places.length === 1);
  if (places.length === 1) showPlace(places[0]);
  else {
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        watch.unobserve(entry.target);
        showPlace(entry.target);
      }
    }, {rootMargin: '400px'});
    for (const place of places) watch.observe(place);
  }
})();
