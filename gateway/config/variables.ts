import { getAddress, type Hex, isAddress } from 'viem';
import { z } from 'zod';
import { atomicAmount, parseAtomic } from '../../schema/amount.ts';
import { limits } from '../../schema/limits.ts';
import { facilitatorAuth } from './facilitator-auth.ts';
import { rate } from './rates.ts';
import { solanaAddress, solanaKey } from './solana.ts';
import { trusting } from './trusted-proxies.ts';

/** An OpenAI-compatible service that we buy answers from. `base_url` goes up to and including the version. */
const hub = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'a hub name is up to 63 letters, digits, dots, dashes')
    .refine(name => name !== 'router', 'a hub is not called as the router is'),
  base_url: httpUrl().transform(withoutSlash),
  api_key: z.string().min(1),
  models: modelIds().min(1),
  image_models: modelIds().default([]),
  audio_models: modelIds().default([]),
  vision_models: modelIds().default([]),
  reasoning_models: modelIds().default([]),
  prices: z.record(z.string(), z.int().min(0)).optional(),
});

/** `router/*` is answered by the router alone, `svc/*` is ours to give a meaning. */
function modelIds() {
  return z.array(z.string().regex(/^(?!router\/|svc\/)./, 'an id that no hub has'));
}

export const subgraphNames = ['book', 'board', 'receipt', 'session'] as const;
export type SubgraphName = (typeof subgraphNames)[number];

/** Of Coinbase Smart Wallet, v1 and v1.1: what most wallets on Base that do not stand yet are made by. */
const coinbaseFactories = [
  '0x0BA5ED0c6AA8c49038F819E587E2633c4A9F428a',
  '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
] as const;

/** One row per variable of the environment. A row that is not set, or set to nothing, is left undefined. */
export const variables = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: decimal(1, 65_535).default(4000),
  BASE_URL: httpUrl().transform(withoutSlash).optional(),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'not a postgresql:// URL' }).optional(),
  DATABASE_PLAIN: z.literal('intended').optional(),
  BASE_RPC_URL: httpUrl().optional(),
  SOLANA_RPC_URL: httpUrl().optional(),
  NANO_RPC_URL: httpUrl().optional(),
  FACILITATOR_URL: httpUrl().transform(withoutSlash).optional(),
  FACILITATOR_AUTH: facilitatorAuth().optional(),
  FACILITATOR_KEYS: list(privateKey()).optional(),
  SETTLE_FEE_MAX: atomicUsdc().default(limits.settle_fee_atomic_default),
  SETTLE_FEE_DAY_MAX: atomicUsdc().default(limits.settle_fee_day_atomic_default),
  ETH_USD: dollars().optional(),
  WALLET_FACTORIES: list(baseAddress()).default([...coinbaseFactories]),
  SOLANA_FEE_PAYER_KEY: solanaKey().optional(),
  PAY_TO_BASE: baseAddress().optional(),
  PAY_TO_SOLANA: solanaAddress().optional(),
  HUBS: jsonOf(z.array(hub).min(1).refine(distinctNames, 'two hubs share a name')).optional(),
  HUB_TIMEOUT_MS: decimal(1, limits.hubs_timeout_ms).default(limits.hub_timeout_ms),
  ROUTER_URL: placeUrl().transform(withoutSlash).optional(),
  ROUTER_MODELS: list(z.string()).default([]),
  ISSUER_KEYS: list(seed()).optional(),
  SEAL_KEY: secret().optional(),
  SUBGRAPH_SECRET: secret().optional(),
  ANCHOR_KEY: seed().optional(),
  ANCHOR_SECONDS: decimal(1, 604_800).optional(),
  ANCHOR_FEE_DAY_MAX: decimal(0, 999_999_999).optional(),
  API_KEYS: list(z.string().min(1)).optional(),
  DEMO_KEYS: list(z.string().min(1)).optional(),
  WAIVER_KEYS: list(z.string().min(1)).optional(),
  METRICS_TOKEN: secret().optional(),
  RATE_FREE: rate().optional(),
  RATE_CREDENTIALS: rate().optional(),
  RATE_UNPROVEN: rate().optional(),
  RATE_UNCHARGED: rate().optional(),
  BODIES_BYTES_MAX: decimal(1, 999_999_999).optional(),
  TRUSTED_PROXIES: list(z.string()).refine(areProxies, 'not addresses, networks or their names').default([]),
  CORS_ORIGINS: list(origin()).default(['*']),
  DRAIN_MS: decimal(0, limits.stop_ms_max).optional(),
  PROOF_WRITES: z.enum(['plain', 'bound']).default('plain'),
  STOP_MS: decimal(0, limits.stop_ms_max).default(limits.stop_ms),
  BOARD_OPS_SECRET: z.string().optional(),
  BOARD_INBOUND_SECRET: z.string().optional(),
  SUBGRAPH_URLS: jsonOf(z.partialRecord(z.enum(subgraphNames), placeUrl().transform(withoutSlash))).optional(),
  EVENTS_URL: z.url('not a URL').optional(),
  INTROSPECTION: z.enum(['on', 'off']).optional(),
  NODE_ENV: z.string().default('development'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export type VariableName = keyof typeof variables.shape;
export type Variables = z.infer<typeof variables>;
export type HubConfig = Readonly<z.infer<typeof hub>>;

export type Environment = Readonly<Record<string, string | undefined>>;

export const emptyLists: ReadonlySet<string> = new Set<VariableName>([
  'API_KEYS',
  'DEMO_KEYS',
  'WAIVER_KEYS',
  'WALLET_FACTORIES',
  'CORS_ORIGINS',
]);

/** Of these, set to nothing says "none": no such keys, or without that network. Unset says "find something". */
export const mayBeEmpty: ReadonlySet<string> = new Set<VariableName>([
  ...(['API_KEYS', 'DEMO_KEYS', 'WAIVER_KEYS', 'ROUTER_URL'] as const),
  ...(['SOLANA_RPC_URL', 'SOLANA_FEE_PAYER_KEY', 'PAY_TO_SOLANA'] as const),
]);

function httpUrl() {
  return z.url({ protocol: /^https?$/, error: 'not an http(s) URL' });
}

/** One that names a place and nothing else: it is logged, and what else it held would not be sent. */
function placeUrl() {
  return httpUrl().refine(isPlace, 'holds a user, a query or a fragment');
}

function isPlace(url: string): boolean {
  const { username, password, search, hash } = URL.canParse(url) ? new URL(url) : new URL('http://none');
  return `${username}${password}${search}${hash}` === '';
}

/** As a browser names it, and not as a URL of a page there: it is compared letter by letter. */
function origin() {
  return z.string().refine(isOrigin, 'not an origin: https://app.example, without a path, or *');
}

function isOrigin(text: string): boolean {
  if (text.includes('*')) return text === '*';
  if (/^https?:/.test(text)) return URL.canParse(text) && new URL(text).origin === text;
  // An extension's or an app's: URL knows no origin of other schemes.
  return /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+$/.test(text);
}

function areProxies(proxies: readonly string[]): boolean {
  try {
    return trusting(proxies) !== null;
  } catch {
    return false;
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function decimal(min: number, max: number) {
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, `not a number from ${min} to ${max}`)
    .transform(Number)
    .refine(value => value >= min && value <= max, `not a number from ${min} to ${max}`);
}

/** A whole number of atomic USDC (6 decimals), above nothing. */
function atomicUsdc() {
  return z.string().transform((text, context) => {
    const amount = parseAtomic(text);
    if (amount !== null && amount > 0n) return amount;
    context.addIssue({ code: 'custom', message: 'not a whole number of atomic USDC above 0' });
    return z.NEVER;
  });
}

/** A price in dollars, up to six decimals, as atomic USDC. */
function dollars() {
  return z
    .string()
    .regex(/^(?=.*[1-9])[0-9]{1,9}(\.[0-9]{1,6})?$/, 'not a price in dollars, as 3000 or 3000.50')
    .transform(text => {
      const [whole = '', decimals = ''] = text.split('.');
      return atomicAmount(BigInt(whole + decimals.padEnd(6, '0')));
    });
}

function list<T extends z.ZodType<unknown, string>>(item: T) {
  return z
    .string()
    .transform(text =>
      text
        .split(',')
        .map(part => part.trim())
        .filter(Boolean),
    )
    .pipe(z.array(item));
}

/** 32 bytes of hex, with or without 0x; kept without, in lower case. */
function seed() {
  return z
    .string()
    .regex(/^(0x)?[0-9a-f]{64}$/i, 'not 32 bytes of hex')
    .transform(text => text.replace(/^0x/i, '').toLowerCase());
}

function privateKey() {
  return seed().transform((digits): Hex => `0x${digits}`);
}

function secret() {
  return z.string().min(16, 'shorter than 16 characters');
}

function baseAddress() {
  return z
    .string()
    .refine(text => isAddress(text), 'not an address (checksum included)')
    .transform(text => getAddress(text));
}

function jsonOf<T extends z.ZodType>(inner: T) {
  return z
    .string()
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

function distinctNames(hubs: readonly { name: string }[]): boolean {
  return new Set(hubs.map(({ name }) => name)).size === hubs.length;
}
