// SPDX-License-Identifier: MIT
// Runs the command in a Web Worker. The command is a program for WASI, "preview 1": it reads files by system calls,
// and this script answers them. Reading must be synchronous, so a dropped file is read with FileReaderSync and a
// remote one with a synchronous XMLHttpRequest, both of which only workers have.
//
// Messages of the page:   { module }                                  the compiled program, first and once
//                         { id, files: [{ path, file }] }             replaces the files that the command sees
//                         { id, hub: { endpoint, name, revision, path } }   the same, with the files of a repository,
//                                                                     or only those in the folder of path
//                         { id, args, config }                        runs the command, with --config if there is one
// Answers, with that id:  nothing else after files and hub; { error }
//                         { status, output, messages, milliseconds, bytesRead } of a command
// In between:             { progress }
'use strict'

// ---- files ----

const BLOCK = 64 * 1024 // bytes: what a small read fetches; readers of zip archives and pickles read piece by piece
const MOST_BLOCKS = 64 // of a file that are kept, 4 MiB
const HEAD = 128 * 1024 // bytes: the headers of most shards of 5 GB
let lastInode = 0
let bytesRead = 0

class Folder {
    inode = ++lastInode
    entries = new Map()
}

// A file that the command itself writes, or a pasted configuration.
class MemoryFile {
    inode = ++lastInode
    constructor(bytes = new Uint8Array(0)) {
        this.bytes = bytes
        this.size = bytes.length
    }
    resize(size) {
        if (size > this.bytes.length) {
            const larger = new Uint8Array(Math.max(size, 2 * this.bytes.length))
            larger.set(this.bytes.subarray(0, this.size))
            this.bytes = larger
        } else this.bytes.fill(0, size, Math.max(size, this.size))
        this.size = size
    }
    read(offset, into) {
        const part = this.bytes.subarray(offset, Math.min(this.size, offset + into.length))
        into.set(part)
        return part.length
    }
    write(offset, bytes) {
        if (offset + bytes.length > this.size) this.resize(offset + bytes.length)
        this.bytes.set(bytes, offset)
    }
}

// A file that is elsewhere: `fetch(begin, end)` returns those bytes of it. The most recent blocks are kept.
class SlicedFile {
    inode = ++lastInode
    blocks = new Map()
    constructor(size, fetch) {
        this.size = size
        this.fetch = (begin, end) => {
            const bytes = fetch(begin, end)
            if (bytes.length !== end - begin) throw new Error('fewer bytes came than asked for')
            bytesRead += bytes.length
            return bytes
        }
    }
    keep(number, bytes) {
        this.blocks.delete(number)
        this.blocks.set(number, bytes)
        if (this.blocks.size > MOST_BLOCKS) this.blocks.delete(this.blocks.keys().next().value)
    }
    block(number) {
        const begin = number * BLOCK
        const bytes = this.blocks.get(number) || this.fetch(begin, Math.min(this.size, begin + BLOCK))
        this.keep(number, bytes)
        return bytes
    }
    read(offset, into) {
        const end = Math.min(this.size, offset + into.length)
        if (offset >= end) return 0
        for (let at = offset; at < end;) {
            const number = Math.floor(at / BLOCK)
            if (at % BLOCK === 0 && end - at > BLOCK && !this.blocks.has(number)) {
                into.set(this.fetch(at, end), at - offset) // the rest in one piece, which is not kept
                return end - offset
            }
            const part = this.block(number).subarray(at - number * BLOCK, Math.min(BLOCK, end - number * BLOCK))
            into.set(part, at - offset)
            at += part.length
        }
        return end - offset
    }
}

function slicesOf(file) {
    return new SlicedFile(file.size, (begin, end) =>
        new Uint8Array(new FileReaderSync().readAsArrayBuffer(file.slice(begin, end))))
}

let root = new Folder()
let pasted = '' // the name of the folder that has the pasted configuration

// Puts a node at a path, and makes the folders above it.
function place(path, node) {
    const names = path.split('/').filter(name => name && name !== '.' && name !== '..')
    const last = names.pop()
    let folder = root
    for (const name of names) {
        if (!(folder.entries.get(name) instanceof Folder)) folder.entries.set(name, new Folder())
        folder = folder.entries.get(name)
    }
    if (last) folder.entries.set(last, node)
}

function emptyRoot() {
    root = new Folder()
    pasted = ''
    root.entries.set('tmp', new Folder())
}

// ---- a repository of the hub ----

const CHECKPOINT = /\.(safetensors|gguf|bin|pt|pth|ckpt|msgpack|onnx|npz|npy|index|pkl|nemo|params|distcp|metadata)$/
const DOCUMENT = /(^|\/)(config|model_index|params|adapter_config|[^/]*\.index)\.json$/
const MOST_PAGES = 20 // of 1,000 files each
const AT_ONCE = 6 // requests: what browsers allow to one server

async function get(url, options) {
    try {
        return await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer', ...options })
    } catch {
        throw new Error(`${url}: no answer: there is no connection, or the server does not allow pages to read it`)
    }
}

// The files of a repository: the listing is in pages, each of which names the next one in its header Link.
async function listRepository({ endpoint, name, revision }) {
    const files = []
    let url = `${endpoint}/api/models/${name}/tree/${encodeURIComponent(revision)}?recursive=true`
    for (let page = 0; url && page < MOST_PAGES; page++) {
        const answer = await get(url)
        if (!answer.ok) throw new Error(`${name}: the hub answers ${answer.status} ${answer.statusText}`)
        for (const entry of await answer.json()) {
            const wanted = CHECKPOINT.test(entry.path) || entry.path.endsWith('.json')
            if (entry.type === 'file' && wanted) files.push(entry)
        }
        const next = /<([^>]*)>; *rel="next"/.exec(answer.headers.get('Link') || '')
        url = next && next[1].startsWith(endpoint + '/') ? next[1] : null
    }
    return files
}

// A range by a request that may wait for others; false when the server sends the whole file instead.
async function getRange(url, begin, end) {
    const answer = await get(url, { headers: { Range: `bytes=${begin}-${end - 1}` } })
    if (answer.status === 206) return new Uint8Array(await answer.arrayBuffer())
    if (answer.body) await answer.body.cancel()
    throw new Error(`${url}: the server answers ${answer.status} to a request for a range`)
}

// A range while the command waits for it.
function getRangeNow(url, begin, end) {
    const request = new XMLHttpRequest()
    request.open('GET', url, false)
    request.responseType = 'arraybuffer'
    request.setRequestHeader('Range', `bytes=${begin}-${end - 1}`)
    request.send()
    if (request.status !== 206) throw new Error(`${url}: the server answers ${request.status}`)
    return new Uint8Array(request.response)
}

// The entries in the folder that `path` is or that the file `path` is in; all for an empty path.
function entriesNear(entries, { name, path }) {
    const isBelow = folder => ({ path: other }) => !folder || other.startsWith(folder + '/')
    const isFile = entries.some(entry => entry.path === path)
    if (path && !isFile && !entries.some(isBelow(path))) throw new Error(`${name}: it has no ${path} to read`)
    return entries.filter(isBelow(isFile ? path.split('/').slice(0, -1).join('/') : path))
}

// Lists the repository and fetches what nearly every command needs, several files at once: the configurations and the
// beginnings of safetensors and GGUF files. The command fetches the rest while it reads.
async function openRepository(hub) {
    const entries = entriesNear(await listRepository(hub), hub)
    const waiting = []
    emptyRoot()
    for (const entry of entries) {
        const path = entry.path.split('/').map(encodeURIComponent).join('/')
        const url = `${hub.endpoint}/${hub.name}/resolve/${encodeURIComponent(hub.revision)}/${path}`
        const file = new SlicedFile(entry.size, (begin, end) => getRangeNow(url, begin, end))
        place(`${hub.name}/${entry.path}`, file)
        if (entry.size && (DOCUMENT.test(entry.path) || /\.(safetensors|gguf)$/.test(entry.path)))
            waiting.push({ file, url })
    }
    const count = waiting.length
    let done = 0
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        for (let next; (next = waiting.pop());) {
            const end = Math.min(next.file.size, HEAD)
            const bytes = await getRange(next.url, 0, end)
            if (bytes.length !== end) throw new Error(`${next.url}: ${bytes.length} bytes came instead of ${end}`)
            bytesRead += end
            for (let at = 0; at < end; at += BLOCK) next.file.keep(at / BLOCK, bytes.subarray(at, at + BLOCK))
            postMessage({ progress: `${++done} of ${count} files` })
        }
    }))
}

// ---- system calls ----

// Error numbers, kinds of files and flags of WASI preview 1.
const OK = 0, BADF = 8, EXIST = 20, INVAL = 28, IO = 29, ISDIR = 31, NOENT = 44, NOSYS = 52, NOTDIR = 54
const CHARACTERS = 2, DIRECTORY = 3, REGULAR = 4
const CREATE = 1, ONLY_FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8
const LARGEST_FILE = 2 ** 31 // bytes, of one that the command writes

class Exit {
    constructor(status) {
        this.status = status
    }
}

class Program {
    output = []
    messages = []
    constructor(args) {
        this.args = args.map(text => new TextEncoder().encode(text + '\0'))
        this.open = [{}, { sink: this.output }, { sink: this.messages }, { node: root, position: 0 }]
    }

    // The exit status of the program.
    run(module) {
        const names = WebAssembly.Module.imports(module).map(item => item.name)
        const calls = Object.fromEntries(names.map(name =>
            [name, this[name] ? (...values) => this.answer(name, values) : () => NOSYS]))
        const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: calls })
        this.memory = instance.exports.memory
        try {
            instance.exports._start()
            return 0
        } catch (thrown) {
            if (thrown instanceof Exit) return thrown.status
            throw thrown
        }
    }

    // A file that cannot be read any more is an error of the file: the command reports it.
    answer(name, values) {
        try {
            return this[name](...values)
        } catch (thrown) {
            if (thrown instanceof Exit) throw thrown
            this.messages.push(new TextEncoder().encode(`${thrown.message}\n`))
            return IO
        }
    }

    get view() {
        return new DataView(this.memory.buffer)
    }
    bytes(pointer, length) {
        return new Uint8Array(this.memory.buffer, pointer, length)
    }
    text(pointer, length) {
        return new TextDecoder().decode(this.bytes(pointer, length).slice())
    }

    // The node at a path from an open folder, the folder that it is in, and its name there.
    find(fd, pointer, length) {
        const path = this.text(pointer, length)
        const start = this.open[fd] && this.open[fd].node
        if (!start) return {}
        const way = [start]
        let name = ''
        for (name of path.split('/').filter(part => part && part !== '.')) {
            if (name === '..') {
                if (way.length > 1) way.pop()
                continue
            }
            const last = way[way.length - 1]
            way.push(last instanceof Folder ? last.entries.get(name) : undefined)
            if (last === undefined) return {}
        }
        return { node: way[way.length - 1], folder: way[way.length - 2], name }
    }

    // Calls `each` for every buffer of a list of buffers, until it returns less than the size of the buffer.
    buffers(pointer, count, total, each) {
        let sum = 0
        for (let i = 0; i < count; i++) {
            const address = this.view.getUint32(pointer + 8 * i, true)
            const size = this.view.getUint32(pointer + 8 * i + 4, true)
            const done = each(this.bytes(address, size))
            sum += done
            if (done < size) break
        }
        this.view.setUint32(total, sum, true)
        return OK
    }

    read(fd, pointer, count, position, total) {
        const file = this.open[fd]
        if (!file) return BADF
        if (file.node instanceof Folder) return ISDIR
        return this.buffers(pointer, count, total, into => {
            const got = file.node ? file.node.read(position, into) : 0
            position += got
            return got
        })
    }

    write(fd, pointer, count, position, total) {
        const file = this.open[fd]
        if (!file || !(file.sink || file.node instanceof MemoryFile)) return BADF
        return this.buffers(pointer, count, total, bytes => {
            if (position + bytes.length > LARGEST_FILE) throw new Error('a temporary file is too large')
            if (file.sink) file.sink.push(bytes.slice())
            else file.node.write(position, bytes)
            position += bytes.length
            return bytes.length
        })
    }

    stat(node, pointer) {
        const { view } = this
        for (let i = 0; i < 64; i += 8) view.setBigUint64(pointer + i, 0n, true)
        view.setBigUint64(pointer + 8, BigInt(node ? node.inode : 0), true)
        view.setUint8(pointer + 16, !node ? CHARACTERS : node instanceof Folder ? DIRECTORY : REGULAR)
        view.setBigUint64(pointer + 24, 1n, true) // links
        view.setBigUint64(pointer + 32, BigInt((node && node.size) || 0), true)
        return OK
    }

    strings(list, pointers, buffer) {
        for (const bytes of list) {
            this.view.setUint32(pointers, buffer, true)
            this.bytes(buffer, bytes.length).set(bytes)
            pointers += 4
            buffer += bytes.length
        }
        return OK
    }

    sizes(list, count, size) {
        this.view.setUint32(count, list.length, true)
        this.view.setUint32(size, list.reduce((sum, bytes) => sum + bytes.length, 0), true)
        return OK
    }

    // ---- the calls, by their names in WASI ----

    args_get(pointers, buffer) {
        return this.strings(this.args, pointers, buffer)
    }
    args_sizes_get(count, size) {
        return this.sizes(this.args, count, size)
    }
    environ_get() {
        return OK
    }
    environ_sizes_get(count, size) {
        return this.sizes([], count, size)
    }
    clock_time_get(clock, precision, pointer) {
        const now = clock === 0 ? Date.now() : performance.now()
        this.view.setBigUint64(pointer, BigInt(Math.round(now * 1e6)), true)
        return OK
    }
    random_get(pointer, length) {
        crypto.getRandomValues(this.bytes(pointer, length))
        return OK
    }
    proc_exit(status) {
        throw new Exit(status)
    }

    fd_prestat_get(fd, pointer) {
        if (fd !== 3) return BADF
        this.view.setUint32(pointer, 0, true)
        this.view.setUint32(pointer + 4, 1, true)
        return OK
    }
    fd_prestat_dir_name(fd, pointer) {
        this.bytes(pointer, 1).set([47]) // "/"
        return OK
    }
    fd_fdstat_get(fd, pointer) {
        const file = this.open[fd]
        if (!file) return BADF
        const { view } = this
        view.setBigUint64(pointer, 0n, true)
        view.setUint8(pointer, !file.node ? CHARACTERS : file.node instanceof Folder ? DIRECTORY : REGULAR)
        view.setBigUint64(pointer + 8, 2n ** 64n - 1n, true) // every right
        view.setBigUint64(pointer + 16, 2n ** 64n - 1n, true)
        return OK
    }
    fd_fdstat_set_flags() {
        return OK
    }
    fd_filestat_get(fd, pointer) {
        return this.open[fd] ? this.stat(this.open[fd].node, pointer) : BADF
    }
    fd_filestat_set_size(fd, size) {
        const file = this.open[fd]
        if (!file || !(file.node instanceof MemoryFile)) return BADF
        if (size > LARGEST_FILE) return INVAL
        file.node.resize(Number(size))
        return OK
    }
    fd_close(fd) {
        if (!this.open[fd]) return BADF
        this.open[fd] = undefined
        return OK
    }
    fd_pread(fd, pointer, count, offset, total) {
        return this.read(fd, pointer, count, Number(offset), total)
    }
    fd_pwrite(fd, pointer, count, offset, total) {
        return this.write(fd, pointer, count, Number(offset), total)
    }
    fd_read(fd, pointer, count, total) {
        const file = this.open[fd]
        const result = this.read(fd, pointer, count, file ? file.position || 0 : 0, total)
        if (result === OK) file.position = (file.position || 0) + this.view.getUint32(total, true)
        return result
    }
    fd_write(fd, pointer, count, total) {
        const file = this.open[fd]
        const result = this.write(fd, pointer, count, file ? file.position || 0 : 0, total)
        if (result === OK) file.position = (file.position || 0) + this.view.getUint32(total, true)
        return result
    }
    fd_seek(fd, offset, whence, pointer) {
        const file = this.open[fd]
        if (!file || !file.node || file.node instanceof Folder) return BADF
        const from = whence === 0 ? 0 : whence === 1 ? file.position : file.node.size
        const to = from + Number(offset)
        if (to < 0) return INVAL
        file.position = to
        this.view.setBigUint64(pointer, BigInt(to), true)
        return OK
    }

    // Entries of 24 bytes and the name; the buffer may end within one. The cookie is the number of the next entry.
    fd_readdir(fd, pointer, size, cookie, used) {
        const folder = this.open[fd] && this.open[fd].node
        if (!(folder instanceof Folder)) return NOTDIR
        const entries = [...folder.entries]
        let at = 0
        for (let i = Number(cookie); i < entries.length && at < size; i++) {
            const [name, node] = entries[i]
            const encoded = new TextEncoder().encode(name)
            const entry = new Uint8Array(24 + encoded.length)
            const view = new DataView(entry.buffer)
            view.setBigUint64(0, BigInt(i + 1), true)
            view.setBigUint64(8, BigInt(node.inode), true)
            view.setUint32(16, encoded.length, true)
            view.setUint8(20, node instanceof Folder ? DIRECTORY : REGULAR)
            entry.set(encoded, 24)
            const part = entry.subarray(0, size - at)
            this.bytes(pointer + at, part.length).set(part)
            at += part.length
        }
        this.view.setUint32(used, at, true)
        return OK
    }

    path_filestat_get(fd, flags, path, length, pointer) {
        const { node } = this.find(fd, path, length)
        return node ? this.stat(node, pointer) : NOENT
    }
    path_readlink(fd, path, length) {
        return this.find(fd, path, length).node ? INVAL : NOENT // there are no links
    }
    path_unlink_file(fd, path, length) {
        const { node, folder, name } = this.find(fd, path, length)
        if (!node || !(folder instanceof Folder)) return NOENT
        folder.entries.delete(name)
        return OK
    }
    path_open(fd, lookup, path, length, how, rights, inherited, flags, pointer) {
        const { node, folder, name } = this.find(fd, path, length)
        if (node && how & CREATE && how & EXCLUSIVE) return EXIST
        if (!node && !(how & CREATE && folder instanceof Folder)) return NOENT
        if (node && how & ONLY_FOLDER && !(node instanceof Folder)) return NOTDIR
        const opened = node || new MemoryFile()
        if (!node) folder.entries.set(name, opened)
        else if (how & TRUNCATE && node instanceof MemoryFile) node.resize(0)
        let free = this.open.findIndex((file, number) => number > 3 && !file)
        if (free < 0) free = this.open.length
        this.open[free] = { node: opened, position: 0 }
        this.view.setUint32(pointer, free, true)
        return OK
    }
}

// ---- messages ----

let module = null

function joined(chunks) {
    return new Blob(chunks).arrayBuffer().then(bytes => new TextDecoder().decode(bytes))
}

// Puts a pasted configuration beside the files, in a folder with a name that none of them has, and returns the option
// that names it.
function paste(config) {
    root.entries.delete(pasted)
    if (!config) return []
    for (pasted = 'pasted'; root.entries.has(pasted);) pasted += '_'
    place(pasted + '/config.json', new MemoryFile(new TextEncoder().encode(config)))
    return ['--config', pasted + '/config.json']
}

// What was read since the files were opened, or since the last command.
function takeBytesRead() {
    const read = bytesRead
    bytesRead = 0
    return read
}

async function run({ args, config }) {
    const before = performance.now()
    const program = new Program(['shapeproof', ...args.slice(0, 1), ...paste(config), ...args.slice(1)])
    let status
    try {
        status = program.run(module)
    } catch (thrown) {
        status = -1
        program.messages.push(new TextEncoder().encode(`the command failed: ${thrown.message}\n`))
    }
    const milliseconds = performance.now() - before
    const output = await joined(program.output), messages = await joined(program.messages)
    return { status, output, messages, milliseconds, bytesRead: takeBytesRead() }
}

async function work(data) {
    if (data.args) return run(data)
    takeBytesRead()
    if (data.hub) await openRepository(data.hub)
    if (data.files) {
        emptyRoot()
        for (const { path, file } of data.files) place(path, slicesOf(file))
    }
}

// One message after the other: fetching a repository must not mix with the next command.
let last = Promise.resolve()
onmessage = ({ data }) => {
    if (data.module) {
        module = data.module
        return emptyRoot()
    }
    last = last.then(() => work(data)).then(result => postMessage({ id: data.id, ...result }),
        thrown => postMessage({ id: data.id, error: thrown.message }))
}
