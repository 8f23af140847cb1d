// SPDX-License-Identifier: MIT
// The page: takes files, repositories and forms, has the worker run a command for them, and shows the answer. Text of
// files is only ever put into the page as text; a report, which is HTML, is put into a frame without any right but to
// run its own script.
'use strict'

const HUB = 'https://huggingface.co'
const element = id => document.getElementById(id)
const whole = loadProgram()
let worker = null, lastId = 0, waiting = null
let subject = null, source = null, hasConfig = false // what is open: its name for the command, its files

// ---- the worker ----

// The program is in this page: compressed by gzip, in base64.
async function loadProgram() {
    const bytes = Uint8Array.from(atob(element('program').textContent.trim()), letter => letter.charCodeAt(0))
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
    return WebAssembly.compile(await new Response(stream).arrayBuffer())
}

async function startWorker() {
    const url = URL.createObjectURL(new Blob([element('worker').textContent], { type: 'text/javascript' }))
    worker = new Worker(url)
    worker.onmessage = ({ data }) => {
        if (data.progress) say(`Fetched ${data.progress}.`)
        if (!waiting || data.id !== waiting.id) return // progress, or the answer to a request that nobody waits for
        const { resolve, reject } = waiting
        waiting = null
        if (data.error) reject(new Error(data.error))
        else resolve(data)
    }
    worker.postMessage({ module: await whole })
}

// The answer of the worker to a message. Only the newest message is waited for: the promise of an older one is rejected
// with null.
function ask(message) {
    if (waiting) waiting.reject(null)
    return new Promise((resolve, reject) => {
        waiting = { id: ++lastId, resolve, reject }
        worker.postMessage({ id: lastId, ...message })
    })
}

// Ends what runs, however long it would take, and opens the same files again in a new worker.
async function stop() {
    worker.terminate()
    if (waiting) waiting.reject(null)
    waiting = null
    await startWorker()
    if (source && source.files) await ask(source)
    else forget()
    element('stop').hidden = true
    say('Stopped.')
}

function forget() {
    subject = source = null
    element('opened').hidden = true
}

// ---- the answer ----

function say(text) {
    element('status').textContent = text
}

function clear() {
    for (const id of ['messages', 'text', 'report', 'save']) element(id).hidden = true
    element('messages').textContent = element('text').textContent = ''
    element('report').removeAttribute('srcdoc')
}

function show({ status, output, messages, milliseconds, bytesRead }, isPage) {
    const read = bytesRead ? `, ${bytesRead.toLocaleString('en')} bytes read` : ''
    element('messages').textContent = messages
    element('messages').hidden = !messages
    if (isPage && output) {
        element('report').srcdoc = output
        URL.revokeObjectURL(element('save').href)
        element('save').href = URL.createObjectURL(new Blob([output], { type: 'text/html' }))
    } else element('text').textContent = output
    element('report').hidden = element('save').hidden = !(isPage && output)
    element('text').hidden = isPage || !output
    element('answer').scrollIntoView()
    say(status < 0 ? 'The command failed.' : `Exit status ${status}, ${Math.round(milliseconds)} ms${read}.`)
    document.body.dataset.status = status
}

// Runs `work`, which returns an answer or undefined, and shows what it returns or throws.
async function answer(work, isPage) {
    clear()
    delete document.body.dataset.status
    say('Working.')
    element('stop').hidden = false
    try {
        const result = await work()
        if (result) show(result, isPage)
    } catch (thrown) {
        if (!thrown) return
        say('Failed.')
        element('messages').textContent = thrown.message
        element('messages').hidden = false
        document.body.dataset.status = -1
    }
    element('stop').hidden = true
}

function command(args, config) {
    return ask({ args, config })
}

// ---- checkpoints ----

function read(name) {
    const config = name === 'check' ? element('config').value.trim() : ''
    answer(async () => {
        const result = await command([name, '--format', 'html', '--', subject], config)
        if (name === 'check' && result.status > 1 && !config && !hasConfig) {
            element('pasting').open = true
            result.messages += 'On this page: paste the config.json above, or drop it on the page.\n'
        }
        return result
    }, true)
}

// The file or folder that the command is called with: the only checkpoint, or the folder that has them all.
function subjectOf(paths) {
    const tops = new Set(paths.map(path => path.split('/')[0]))
    const inFolders = paths.some(path => path.includes('/'))
    if (tops.size === 1) return inFolders ? [...tops][0] : paths[0]
    const checkpoints = paths.filter(path => !path.endsWith('.json'))
    return checkpoints.length === 1 ? checkpoints[0] : '.'
}

function open(what, name, withConfig) {
    answer(async () => {
        forget()
        await ask(what)
        subject = name
        source = what
        hasConfig = withConfig
        element('subject').textContent = name === '.' ? 'the dropped files' : name
        element('opened').hidden = false
        read(hasConfig || element('config').value.trim() ? 'check' : 'inspect')
    }, true)
}

// A configuration alone is pasted: it is for the checkpoint that is open, or says itself what to predict.
async function pasteFile(file) {
    element('config').value = await file.text()
    element('pasting').open = true
    element('table').value = ''
    if (subject) read('check')
    else runFormula('predict')
}

function openFiles(files) {
    const paths = files.map(({ path }) => path)
    if (!paths.length) return answer(() => { throw new Error('There is no file in what was dropped.') })
    if (paths.length === 1 && /(^|\/)config\.json$/.test(paths[0])) return pasteFile(files[0].file)
    open({ files }, subjectOf(paths), paths.some(path => /(^|\/)config\.json$/.test(path)))
}

// A dropped folder gives its entries some at a time, and none at the end.
async function filesOf(entry, above) {
    const path = above + entry.name
    if (entry.isFile) {
        const file = await new Promise((resolve, reject) => entry.file(resolve, reject))
        return [{ path, file }]
    }
    const reader = entry.createReader(), found = []
    for (;;) {
        const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
        if (!some.length) return found
        for (const inner of some) found.push(...await filesOf(inner, path + '/'))
    }
}

async function takeDropped(transfer) {
    const entries = [...transfer.items].map(item => item.webkitGetAsEntry && item.webkitGetAsEntry()).filter(Boolean)
    const found = []
    for (const entry of entries) found.push(...await filesOf(entry, ''))
    return openFiles(found)
}

function takeChosen(input) {
    const files = [...input.files].map(file => ({ path: file.webkitRelativePath || file.name, file }))
    if (files.length) openFiles(files)
    input.value = ''
}

// What `hf://` names, with or without it: [ORGANISATION/]NAME[@REVISION][/PATH]; or the address of a page of the hub,
// where PATH is behind the revision: 'https://huggingface.co/org/name/blob/v1/model.gguf' and 'org/name@v1/model.gguf'
// are { endpoint: HUB, name: 'org/name', revision: 'v1', path: 'model.gguf' }. Throws for anything else.
function hubOf(text) {
    let endpoint = HUB, name, revision, path
    const address = text.trim().replace(/^(?=(huggingface|hf)\.co\/)/, 'https://')
    if (/^https?:\/\//.test(address)) {
        const url = new URL(address), words = url.pathname.split('/').filter(Boolean).map(decodeURIComponent)
        const view = words.findIndex((word, i) => (i === 1 || i === 2) && /^(tree|blob|resolve|raw)$/.test(word))
        endpoint = url.origin === 'https://hf.co' ? HUB : url.origin
        name = words.splice(0, view < 0 ? words.length : view).join('/')
        revision = words[1]
        path = words.slice(2).join('/')
    } else {
        [, name, revision, path] =
            /^(?:hf:\/\/)?([^/@]+(?:\/[^/@]+)?)(?:@(refs\/[^/]+\/[^/]+|[^/]+))?(?:\/(.*?))?\/?$/.exec(address) || []
    }
    if (!/^[A-Za-z0-9_][\w.-]*(\/[A-Za-z0-9_][\w.-]*)?$/.test(name || '')) throw new Error('no name')
    return { endpoint, name, revision: revision || 'main', path: path || '' }
}

function openHub(text) {
    const fail = why => answer(() => { throw new Error(`'${text}' ${why}`) })
    let hub
    try {
        hub = hubOf(text)
    } catch {
        return fail('is no repository: write ORGANISATION/NAME or its URL')
    }
    if (![HUB, location.origin].includes(hub.endpoint)) return fail(`is not on ${HUB}, where this page may read`)
    history.replaceState(null, '', '#' + new URLSearchParams({ hub: text.trim() }))
    open({ hub }, hub.path ? `${hub.name}/${hub.path}` : hub.name, true)
}

// ---- formulas, and links to them ----

const lines = id => element(id).value.split('\n').map(line => line.trim()).filter(Boolean)

function runFormula(name) {
    const table = element('table').value.trim(), settings = lines('settings')
    const claims = name === 'prove' ? lines('claims') : []
    const expressions = name === 'eval' ? lines('expressions') : []
    const config = table ? '' : element('config').value.trim()
    if (!table && !config && ['derive', 'predict'].includes(name))
        return answer(() => { throw new Error('Name a table or a model, or paste a config.json.') })
    const args = [name, ...settings.map(text => `--set=${text}`), ...claims.map(text => `--claim=${text}`)]
    const link = new URLSearchParams(config ? { do: name, config } : { do: name, table })
    for (const text of settings) link.append('set', text)
    for (const text of claims) link.append('claim', text)
    for (const text of expressions) link.append('expression', text)
    history.replaceState(null, '', '#' + link)
    answer(() => command([...args, '--', ...(table ? [table] : []), ...expressions], config), false)
}

// A link fills the forms. It runs a formula, which is harmless; it never opens a repository by itself.
function followLink() {
    const link = new URLSearchParams(location.hash.slice(1))
    element('table').value = link.get('table') || ''
    element('settings').value = link.getAll('set').join('\n')
    element('claims').value = link.getAll('claim').join('\n')
    element('expressions').value = link.getAll('expression').join('\n')
    element('repository').value = link.get('hub') || ''
    if (link.has('config')) {
        element('config').value = link.get('config')
        element('pasting').open = true // it also applies to the next checkpoint
    }
    if (['derive', 'predict', 'prove', 'eval'].includes(link.get('do'))) runFormula(link.get('do'))
}

async function listTables() {
    const { output } = await command(['tables', '--names'])
    for (const name of output.split('\n').filter(Boolean)) {
        const option = document.createElement('option')
        option.value = name
        element('tables').append(option)
    }
}

// ---- events ----

async function begin() {
    try {
        await startWorker()
        await listTables()
    } catch (thrown) {
        return say(`This browser cannot run the program: ${thrown.message}`)
    }
    addEventListener('dragover', event => {
        event.preventDefault()
        document.body.classList.add('dragging')
    })
    addEventListener('dragleave', event => {
        if (!event.relatedTarget) document.body.classList.remove('dragging')
    })
    addEventListener('drop', event => {
        event.preventDefault()
        document.body.classList.remove('dragging')
        takeDropped(event.dataTransfer).catch(thrown => answer(() => { throw thrown }))
    })
    for (const id of ['files', 'folder']) element(id).onchange = event => takeChosen(event.target)
    for (const name of ['inspect', 'check']) element(name).onclick = () => read(name)
    element('stop').onclick = stop
    element('hub').onsubmit = event => {
        event.preventDefault()
        openHub(element('repository').value)
    }
    element('formula').onsubmit = event => {
        event.preventDefault()
        runFormula(event.submitter ? event.submitter.name : 'derive')
    }
    addEventListener('hashchange', followLink)
    say(`Ready after ${Math.round(performance.now())} ms.`)
    document.body.dataset.ready = 'true'
    followLink()
}

begin()
