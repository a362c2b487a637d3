import crypto, { type KeyObject, type SignKeyObjectInput } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { p256 } from '@noble/curves/p256';
import { systemRandom } from '../../../subgraphs/clock.ts';

/*
 * Makes time and randomness of this process the same in every run. Ids, salts, nonces, signatures and all hashes over these are then equal
 * in two versions that draw them in the same way.
 */

/** Start of the story. It is in the future, so that any time from the machine's own clock is in the past. */
export const BEGINS_MS = Date.UTC(2030, 4, 14, 10, 20);
/**
 * Step of the story's time in milliseconds. It is shorter than a step takes to run, so that leases do not expire sooner than by the
 * machine's clock.
 */
const STEP_MS = 20;

let now_ms = BEGINS_MS;
let label = 'opening';
const drawn = new Map<string, number>();

export interface SealedText {
  readonly label: string;
  readonly plain: string;
  readonly nonce: string;
}

/** Texts sealed since the last call of `takeSealed`, as the cipher received them. */
let sealed: SealedText[] = [];

/** Resets the time to the story's start and clears all draws. */
export function beginStory(): void {
  now_ms = BEGINS_MS - STEP_MS;
  sealed = [];
  beginStep('opening');
}

/**
 * Moves the time forward and names the step. Draws depend on that name, so a step that draws more or less than in another version changes
 * no other step.
 */
export function beginStep(name: string): number {
  label = name;
  drawn.clear();
  now_ms += STEP_MS;
  return now_ms;
}

export const storyNow = (): number => now_ms;

export function takeSealed(): readonly SealedText[] {
  const taken = sealed;
  sealed = [];
  return taken;
}

/** The next bytes of this step for draws of that kind and length. Draws of another length do not change them. */
function bytes(kind: string, length: number): Buffer {
  const key = `${kind} ${length}`;
  const count = drawn.get(key) ?? 0;
  drawn.set(key, count + 1);
  return createHash('shake256', { outputLength: length }).update(`${label}|${key}|${count}`).digest();
}

const { createHash, createCipheriv, randomBytes, sign } = crypto;
const { connect } = net;

/** Real ports by the ports that appear in the record. Free ports differ in each run, but receipts name hosts with their ports. */
const ports = new Map<number, number>();

/** Makes connections to the port `told` go to the port `actual`. */
export function redirectPort(told: number, actual: number): void {
  ports.set(told, actual);
}

/** Makes this process use the story's time and randomness until it ends. */
export function fixTime(): void {
  globalThis.Date = new Proxy(Date, {
    construct: (target, args, called) => Reflect.construct(target, args.length === 0 ? [now_ms] : args, called),
    get: (target, name) => (name === 'now' ? storyNow : Reflect.get(target, name)),
  });
  Object.assign(systemRandom, { bytes: (count: number) => Uint8Array.from(bytes('service', count)) });
  globalThis.crypto.getRandomValues = array => {
    if (ArrayBuffer.isView(array))
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes('web', array.byteLength));
    return array;
  };
  Object.assign(crypto, { randomUUID, randomBytes: drawnBytes, sign: signAlike, createCipheriv: noted });
  Object.assign(net, { connect: rerouted });
  syncBuiltinESMExports();
}

function rerouted(...[asked, ...given]: Parameters<typeof connect>): net.Socket {
  const options = typeof asked === 'object' ? (asked as { readonly port?: string | number }) : null;
  const port = ports.get(Number(options?.port));
  const sent = port === undefined ? asked : { ...options, port };
  return Reflect.apply(connect, net, [sent, ...given]);
}

function drawnBytes(length: number, called?: (fault: Error | null, drawn: Buffer) => void): Buffer | undefined {
  if (!called) return bytes('node', length);
  randomBytes(length, called);
  return undefined;
}

function randomUUID(): string {
  const hex = bytes('uuid', 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

type SignArguments = [
  algorithm: string | null | undefined,
  data: Buffer,
  key: KeyObject | SignKeyObjectInput,
  called?: (fault: Error | null, signature: Buffer) => void,
];

/**
 * Signs ES256 with the deterministic nonce of RFC 6979, because OpenSSL draws a random one. All other signatures here are deterministic.
 */
function signAlike(...[algorithm, data, key, called]: SignArguments): Buffer | undefined {
  if ((key as KeyObject).asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    if (!called) return sign(algorithm, data, key);
    sign(algorithm, data, key, called);
    return undefined;
  }
  const { d = '' } = (key as KeyObject).export({ format: 'jwk' });
  const digest = createHash('sha256').update(data).digest();
  const signature = Buffer.from(p256.sign(digest, Buffer.from(d, 'base64url'), { lowS: false }).toDERRawBytes());
  if (!called) return signature;
  setImmediate(called, null, signature);
  return undefined;
}

/** A cipher that records each text before it is sealed. */
function noted(...given: Parameters<typeof createCipheriv>): ReturnType<typeof createCipheriv> {
  const cipher = Reflect.apply(createCipheriv, crypto, given);
  const nonce = Buffer.from(given[2] as Uint8Array).toString('hex');
  const { setAAD, update } = cipher as ReturnType<typeof createCipheriv> & { setAAD(data: Uint8Array): unknown };
  let name = '';
  return Object.assign(cipher, {
    setAAD(data: Uint8Array) {
      name = Buffer.from(data).toString('utf8');
      Reflect.apply(setAAD, cipher, [data]);
      return cipher;
    },
    update(plain: Uint8Array | string) {
      sealed.push({ label: name, plain: Buffer.from(plain as Uint8Array).toString('utf8'), nonce });
      return Reflect.apply(update, cipher, [plain]) as Buffer;
    },
  });
}
