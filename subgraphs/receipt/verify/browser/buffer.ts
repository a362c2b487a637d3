/*
 * The part of Node's Buffer that the verifier uses, for browsers, which have no Buffer. The build replaces Buffer with this class
 * (`gateway/development/client-modules.ts`). A missing method makes the build or the browser tests fail, and never goes unnoticed.
 */

type Encoding = 'utf8' | 'latin1' | 'hex' | 'base64' | 'base64url';

const texts = { encode: new TextEncoder(), decode: new TextDecoder('utf-8', { ignoreBOM: true }) };

/** Decodes hex. Like Buffer, it ignores everything from the first pair on that is not hex. */
function fromHex(text: string): Uint8Array {
  const pairs = /^(?:[0-9a-fA-F]{2})*/.exec(text)?.[0] ?? '';
  return Uint8Array.from({ length: pairs.length / 2 }, (_, at) => Number.parseInt(pairs.slice(2 * at, 2 * at + 2), 16));
}

/** Base64 of either alphabet, padded or not. Invalid base64 gives no bytes, which callers never accept. */
function fromBase64(text: string): Uint8Array {
  try {
    return fromLatin1(atob(text.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return new Uint8Array();
  }
}

const fromLatin1 = (text: string) => Uint8Array.from(text, letter => letter.charCodeAt(0));

/** Converts the bytes in parts, because a call accepts only a limited number of arguments. */
function toLatin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

const decoders: Readonly<Record<Encoding, (text: string) => Uint8Array>> = {
  utf8: text => texts.encode.encode(text),
  latin1: fromLatin1,
  hex: fromHex,
  base64: fromBase64,
  base64url: fromBase64,
};

const encoders: Readonly<Record<Encoding, (bytes: Uint8Array) => string>> = {
  utf8: bytes => texts.decode.decode(bytes),
  latin1: toLatin1,
  hex: bytes => Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join(''),
  base64: bytes => btoa(toLatin1(bytes)),
  base64url: bytes => btoa(toLatin1(bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
};

/** Uint8Array without its static methods, because `from` has other parameters in Buffer. */
const Bytes = Uint8Array as unknown as new (source: number | ArrayLike<number>) => Uint8Array<ArrayBuffer>;

class BrowserBuffer extends Bytes {
  static from(source: string | ArrayLike<number>, encoding: Encoding = 'utf8'): BrowserBuffer {
    return new BrowserBuffer(typeof source === 'string' ? decoders[encoding](source) : source);
  }

  static alloc(length: number): BrowserBuffer {
    return new BrowserBuffer(length);
  }

  static of(...bytes: number[]): BrowserBuffer {
    return new BrowserBuffer(bytes);
  }

  static concat(parts: readonly Uint8Array[]): BrowserBuffer {
    const whole = new BrowserBuffer(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }

  static byteLength(text: string): number {
    return decoders.utf8(text).length;
  }

  /** The order of Buffer: by the first byte that differs, and if there is none, the shorter array first. */
  static compare(one: Uint8Array, other: Uint8Array): number {
    const at = one.findIndex((byte, index) => byte !== other[index]);
    if (at < 0) return Math.sign(one.length - other.length);
    return at >= other.length || (one[at] ?? 0) > (other[at] ?? 0) ? 1 : -1;
  }

  override toString(encoding: Encoding = 'utf8'): string {
    return encoders[encoding](this);
  }

  equals(other: Uint8Array): boolean {
    return BrowserBuffer.compare(this, other) === 0;
  }

  compare(other: Uint8Array): number {
    return BrowserBuffer.compare(this, other);
  }

  readBigUInt64BE(at = 0): bigint {
    return new DataView(this.buffer, this.byteOffset, this.byteLength).getBigUint64(at);
  }
}

export { BrowserBuffer as Buffer };
