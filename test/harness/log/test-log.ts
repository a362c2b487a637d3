import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd } from '../release.ts';
import { rootOf, tilePathOf } from './follower.ts';
import { encode, leafOf, NoteKey } from './note.ts';

const WIDTH = 256;
const EMPTY = Buffer.from('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 'hex');

interface Answer {
  readonly status: number;
  readonly body?: string | Buffer;
  readonly location?: string;
}
/** An answer in place of the log's at a path. Null keeps the log's. */
type Instead = (path: string) => Answer | null;

/** A C2SP log with leaves that a test chooses. It is written by the text of C2SP and RFC 6962 only. */
export class TestLog {
  leaves: Buffer[] = [];
  instead: Instead = () => null;
  /** Paths that were requested. */
  readonly requestedPaths: string[] = [];
  readonly origin: string;
  /** All keys sign. The first is the newest. */
  keys: readonly NoteKey[];

  constructor(origin: string, keys: readonly NoteKey[] = [new NoteKey(origin)]) {
    this.origin = origin;
    this.keys = keys;
  }

  /** Appends `count` leaves whose entries begin with `what`. */
  grow(count: number, what = 'entry'): this {
    for (let at = 0; at < count; at++)
      this.leaves.push(Buffer.from(leafOf(Buffer.from(`${what} ${this.leaves.length}`))));
    return this;
  }

  /** A copy of the log with the same keys. Leaves that are appended to one are not in the other. */
  fork(): TestLog {
    const fork = new TestLog(this.origin, this.keys);
    fork.leaves = [...this.leaves];
    return fork;
  }

  root(size = this.leaves.length): Buffer {
    return size === 0 ? EMPTY : rootOf(this.leaves.slice(0, size));
  }

  body(size = this.leaves.length): string {
    return `${this.origin}\n${size}\n${encode(this.root(size))}\n`;
  }

  checkpoint(size = this.leaves.length): string {
    const body = this.body(size);
    return `${body}\n${this.keys.map(key => key.sign(body)).join('')}`;
  }

  get verifier_keys(): string {
    return this.keys.map(({ verifier_key }) => `${verifier_key}\n`).join('');
  }

  /** A consistency proof (RFC 6962 section 2.1.2). */
  consistency(old_size: number, size = this.leaves.length): string[] {
    const within = (m: number, leaves: readonly Buffer[], whole: boolean): Buffer[] => {
      if (m === leaves.length) return whole ? [] : [rootOf(leaves)];
      const k = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
      if (m <= k) return [...within(m, leaves.slice(0, k), whole), rootOf(leaves.slice(k))];
      return [...within(m - k, leaves.slice(k), false), rootOf(leaves.slice(0, k))];
    };
    if (old_size === 0 || old_size === size) return [];
    return within(old_size, this.leaves.slice(0, size), true).map(encode);
  }

  /** The request body that submits a checkpoint to a witness. */
  submission(old_size: number, size = this.leaves.length, proof = this.consistency(old_size, size)): string {
    return [`old ${old_size}`, ...proof, '', this.checkpoint(size)].join('\n');
  }

  /**
   * A proof that the log contains a leaf (https://c2sp.org/tlog-proof). `extra` lines precede the index; cosignatures follow the
   * checkpoint.
   */
  proof(index: number, cosignatures = '', extra: readonly string[] = []): string {
    const path = pathTo(index, this.leaves).map(encode);
    return [
      'c2sp.org/tlog-proof@v1',
      ...extra,
      `index ${index}`,
      ...path,
      '',
      `${this.checkpoint()}${cosignatures}`,
    ].join('\n');
  }

  tile(level: number, path: string): Buffer | null {
    const span = WIDTH ** level;
    const hashes = Math.floor(this.leaves.length / span);
    const [name, width = String(WIDTH)] = path.split('.p/');
    for (let index = 0; index * WIDTH < hashes; index++) {
      if (tilePathOf(index) !== name || index * WIDTH + Number(width) > hashes) continue;
      return Buffer.concat(
        Array.from({ length: Number(width) }, (_, at) => {
          const from = (index * WIDTH + at) * span;
          return rootOf(this.leaves.slice(from, from + span));
        }),
      );
    }
    return null;
  }

  /** Serves the log. Returns a URL below which it is at `/log`. */
  async serve(): Promise<string> {
    const server = createServer((request, response) => {
      const path = (request.url ?? '').replace(/^\/log\//, '');
      this.requestedPaths.push(path);
      const { status, body, location } = this.instead(path) ?? this.#at(path);
      response.writeHead(status, location === undefined ? {} : { location }).end(body);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  #at(path: string): Answer {
    if (path === 'checkpoint') return { status: 200, body: this.checkpoint() };
    if (path === 'verifier-keys') return { status: 200, body: this.verifier_keys };
    const [, level, rest] = /^tile\/(\d+)\/(.+)$/.exec(path) ?? [];
    const tile = rest === undefined ? null : this.tile(Number(level), rest);
    return tile === null ? { status: 404 } : { status: 200, body: tile };
  }
}

/** Audit path of a leaf (RFC 6962 section 2.1.1). */
function pathTo(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length <= 1) return [];
  const k = 2 ** Math.ceil(Math.log2(leaves.length) - 1);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k ? [...pathTo(index, left), rootOf(right)] : [...pathTo(index - k, right), rootOf(left)];
}
