import { ed25519 } from '@noble/curves/ed25519';
import { sha256 } from '@noble/hashes/sha2';

/*
 * Reads signed notes, checkpoints and proofs by the text of C2SP only (https://c2sp.org/signed-note, tlog-checkpoint, tlog-proof). It uses
 * no code of the service, and cryptography from another library.
 */

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

const decode = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
export const encode = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
const same = (one: Uint8Array, other: Uint8Array) => Buffer.from(one).equals(other);

/** The text of a note that this verifier key signed. @throws if the note has no valid signature of that key */
export function openNote(note: string, verifier_key: string): string {
  const [, name = '', id_hex = '', material = ''] =
    /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(verifier_key) ?? [];
  const key = decode(material);
  const id = sha256(Buffer.concat([Buffer.from(`${name}\n`), key])).subarray(0, 4);
  if (key[0] !== 1 || key.length !== 33 || Buffer.from(id).toString('hex') !== id_hex)
    throw new Error('bad verifier key');
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n')) throw new Error('malformed note');
  const text = note.slice(0, end + 1);
  let signed = false;
  for (const line of note.slice(end + 2, -1).split('\n')) {
    const [, signer, value = ''] = /^\u2014 (\S+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? [];
    if (signer === undefined) throw new Error('malformed signature line');
    const bytes = decode(value);
    if (signer !== name || !same(bytes.subarray(0, 4), id)) continue;
    if (!ed25519.verify(bytes.subarray(4), Buffer.from(text), key.subarray(1))) throw new Error('invalid signature');
    signed = true;
  }
  if (!signed) throw new Error('not signed by this key');
  return text;
}

export function openCheckpoint(note: string, verifier_key: string): Checkpoint {
  const [origin = '', size = '', root = '', ...more] = openNote(note, verifier_key).split('\n');
  if (origin === '' || !/^(0|[1-9]\d*)$/.test(size) || decode(root).length !== 32 || more.join('') !== '')
    throw new Error('malformed checkpoint');
  return { origin, size: Number(size), root: decode(root) };
}

export const leafOf = (entry: Uint8Array): Uint8Array => sha256(Buffer.concat([Buffer.of(0), entry]));
export const parentOf = (left: Uint8Array, right: Uint8Array): Uint8Array =>
  sha256(Buffer.concat([Buffer.of(1), left, right]));

/** The checkpoint of a tree that contains an entry of these bytes, from the text of a proof. @throws if the proof does not show that */
export function openProof(
  proof: string,
  entry: Uint8Array,
  verifier_key: string,
): Checkpoint & { readonly index: number } {
  const blank = proof.indexOf('\n\n');
  const [header, place = '', ...path] = proof.slice(0, blank).split('\n');
  const index = /^index (0|[1-9]\d*)$/.exec(place)?.[1];
  if (header !== 'c2sp.org/tlog-proof@v1' || index === undefined) throw new Error('malformed proof');
  const checkpoint = openCheckpoint(proof.slice(blank + 2), verifier_key);
  const root = climb(leafOf(entry), Number(index), checkpoint.size, path.map(decode));
  if (!same(root, checkpoint.root)) throw new Error('the path does not lead to the root');
  return { ...checkpoint, index: Number(index) };
}

/** Computes the root from a leaf and its audit path (RFC 6962 section 2.1.1). */
function climb(leaf: Uint8Array, index: number, size: number, path: readonly Uint8Array[]): Uint8Array {
  let hash = leaf;
  let at = index;
  let last = size - 1;
  for (const sibling of path) {
    if (last === 0) throw new Error('the path is too long');
    while (at % 2 === 0 && at === last) [at, last] = [at / 2, Math.floor(last / 2)];
    hash = at % 2 === 1 ? parentOf(sibling, hash) : parentOf(hash, sibling);
    [at, last] = [Math.floor(at / 2), Math.floor(last / 2)];
  }
  if (at !== last) throw new Error('the path is too short');
  return hash;
}

/** Time in seconds at which a witness cosigned a checkpoint (https://c2sp.org/tlog-cosignature). @throws if it did not */
export function cosignatureTime(note: string, verifier_key: string): number {
  const [, name = '', material = ''] = /^([^+\s]+)\+[0-9a-f]{8}\+([A-Za-z0-9+/=]+)$/.exec(verifier_key) ?? [];
  const key = decode(material);
  if (key[0] !== 4) throw new Error('not the key of a witness');
  const id = sha256(Buffer.concat([Buffer.from(`${name}\n`), key])).subarray(0, 4);
  const end = note.lastIndexOf('\n\n');
  const lines = note.slice(end + 2, -1).split('\n');
  const line = lines
    .map(text => text.split(' '))
    .find(([, signer, value = '']) => {
      return signer === name && same(decode(value).subarray(0, 4), id);
    });
  if (line === undefined) throw new Error('not cosigned by this witness');
  const bytes = Buffer.from(line[2] ?? '', 'base64');
  const time = bytes.readBigUInt64BE(4);
  const message = Buffer.from(`cosignature/v1\ntime ${time}\n${note.slice(0, end + 1)}`);
  if (!ed25519.verify(bytes.subarray(12), message, key.subarray(1))) throw new Error('invalid cosignature');
  return Number(time);
}

/** A key that signs by the text of C2SP only. Type 1 is a log's key, type 4 a witness's. */
export class NoteKey {
  readonly #secret = ed25519.utils.randomPrivateKey();
  readonly #name: string;
  readonly #typed: Uint8Array;

  constructor(name: string, type: 1 | 4 = 1) {
    this.#name = name;
    this.#typed = Buffer.concat([Buffer.of(type), ed25519.getPublicKey(this.#secret)]);
  }

  get verifier_key(): string {
    return `${this.#name}+${Buffer.from(this.#id).toString('hex')}+${encode(this.#typed)}`;
  }

  /** A signature line for `text`. @param seconds time of the signature, for a witness only */
  sign(text: string, seconds = 0): string {
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(BigInt(seconds));
    const stamped = this.#typed[0] === 4;
    const message = stamped ? `cosignature/v1\ntime ${seconds}\n${text}` : text;
    const signature = ed25519.sign(Buffer.from(message), this.#secret);
    return `\u2014 ${this.#name} ${encode(Buffer.concat([this.#id, stamped ? time : Buffer.of(), signature]))}\n`;
  }

  get #id(): Uint8Array {
    return sha256(Buffer.concat([Buffer.from(`${this.#name}\n`), this.#typed])).subarray(0, 4);
  }
}
