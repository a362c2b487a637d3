import proxyAddr from '@fastify/proxy-addr';
import { getAddress, type Hex, isAddress } from 'viem';
import { z } from 'zod';
import { atomicAmount, parseAtomic } from '../../schema/amount.ts';

/*
 * Schemas for the forms of environment variables; some forms have a separate file. `form` in a schema's metadata is the form as
 * shown in the list of variables.
 */

/** Facts that the list of variables shows in addition to zod's own `description`; see README.md of this folder. */
export interface VariableMeta {
  /** Form of a value. By default it is derived from the schema. */
  readonly form?: string;
  /** Meaning of an unset variable. By default it is the schema's default or the stand-in. */
  readonly unset?: string;
}

export function httpUrl() {
  return z.url({ protocol: /^https?$/, error: 'not an http(s) URL' }).meta({ form: 'http(s) URL' });
}

/**
 * A URL with only scheme, host and path. URLs are logged, so a user or query could be a secret, and a user, query or fragment would
 * not be sent.
 */
export function placeUrl() {
  return httpUrl().refine(isPlace, 'must not contain a user, a query or a fragment');
}

function isPlace(url: string): boolean {
  const { username, password, search, hash } = URL.canParse(url) ? new URL(url) : new URL('http://none');
  return `${username}${password}${search}${hash}` === '';
}

/** An origin in the form that browsers send, because it is compared as text. */
export function origin() {
  return z
    .string()
    .meta({ form: 'origin (`https://app.example`), or `*` for all' })
    .refine(isOrigin, 'not an origin: https://app.example, without a path, or *');
}

function isOrigin(text: string): boolean {
  if (text.includes('*')) return text === '*';
  if (/^https?:/.test(text)) return URL.canParse(text) && new URL(text).origin === text;
  // Origins of extensions and apps are matched by a pattern, because the URL class gives other schemes no origin.
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+$/.test(text);
}

/** Whether all entries are addresses, networks, or names of networks. */
export function areProxies(proxies: readonly string[]): boolean {
  try {
    return compileTrust(proxies) !== null;
  } catch {
    return false;
  }
}

/** A contact (RFC 9116 section 2.5.3). A page by http is refused, because it can be altered in transit. */
export function contactUri() {
  return z
    .string()
    .meta({ form: '`mailto:`, `tel:` or https URI' })
    .refine(
      text => /^(mailto:[^\s@]+@[^\s@]+|tel:\+?[0-9-]+|https:\/\/\S+)$/.test(text),
      'must begin with mailto:, tel: or https:',
    );
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

export function decimal(min: number, max: number) {
  return z
    .string()
    .meta({ form: `${min} to ${max}` })
    .regex(/^[0-9]{1,9}$/, `not a number from ${min} to ${max}`)
    .transform(Number)
    .refine(value => value >= min && value <= max, `not a number from ${min} to ${max}`);
}

/** An integer of atomic USDC (6 decimals) above 0. */
export function atomicUsdc() {
  return z
    .string()
    .meta({ form: 'atomic USDC' })
    .transform((text, context) => {
      const amount = parseAtomic(text);
      if (amount !== null && amount > 0n) return amount;
      context.addIssue({ code: 'custom', message: 'not a whole number of atomic USDC (6 decimals) above 0' });
      return z.NEVER;
    });
}

/** A price in dollars with up to six decimals, converted to atomic USDC. */
export function dollars() {
  return z
    .string()
    .meta({ form: 'dollars, up to six decimals' })
    .regex(/^(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,6})?$/, 'not a price in dollars, such as 3000 or 3000.50')
    .transform(text => {
      const [whole = '', decimals = ''] = text.split('.');
      return atomicAmount(BigInt(whole + decimals.padEnd(6, '0')));
    });
}

/** A comma-separated list. */
export function list<T extends z.ZodType<unknown, string>>(item: T) {
  return z
    .string()
    .meta({ form: item.meta()?.form === undefined ? 'list' : `list: ${item.meta()?.form}` })
    .transform(text =>
      text
        .split(',')
        .map(part => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(item));
}

/** 32 bytes of hex, with or without 0x. The value has no 0x and is in lower case. */
export function seed() {
  return z
    .string()
    .regex(/^(0x)?[0-9a-f]{64}$/i, 'not 32 bytes of hex')
    .transform(text => text.replace(/^0x/i, '').toLowerCase())
    .meta({ form: '32 bytes of hex' });
}

/** Order of secp256k1's group (SEC 2 section 2.4.1). A private key is above zero and below this number. */
const KEYS_END = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** A seed that is used unchanged as an Ethereum private key. */
export function keySeed() {
  return seed()
    .refine(digits => {
      const key = BigInt(`0x${digits}`);
      return key > 0n && key < KEYS_END;
    }, 'not a private key of secp256k1; generate 32 random bytes')
    .meta({ form: '32 bytes of hex' });
}

export function privateKey() {
  return keySeed()
    .transform((digits): Hex => `0x${digits}`)
    .meta({ form: '32 bytes of hex' });
}

export function secret() {
  return z.string().min(16, 'shorter than 16 characters').meta({ form: '16+ characters' });
}

export function baseAddress() {
  return z
    .string()
    .refine(text => isAddress(text), 'not an address with its EIP-55 checksum')
    .transform(text => getAddress(text))
    .meta({ form: 'address, with its checksum' });
}

export function jsonOf<T extends z.ZodType>(inner: T) {
  return z
    .string()
    .meta({ form: 'JSON' })
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: 'not JSON' });
        return z.NEVER;
      }
    })
    .pipe(inner);
}

/** Whether the `X-Forwarded-For` of a connection from that address is trusted. */
export type Trust = (address: string, hops: number) => boolean;

/**
 * Compiles a list of trusted proxies: addresses, networks (CIDR) or proxy-addr's names of networks, such as `loopback`. @throws if
 * an entry is none of these
 */
export function compileTrust(proxies: readonly string[]): Trust {
  return proxyAddr.compile([...proxies]);
}
