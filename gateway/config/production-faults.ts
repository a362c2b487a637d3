import { isJsonObject } from '../../schema/canonical-json.ts';
import { addressOfKey as baseAddress } from '../../schema/secp256k1.ts';
import type { VariableFault } from './fault.ts';
import { solanaAddressOfKey as solanaAddress, solanaKey } from './solana.ts';
import type { Environment, VariableName } from './variables.ts';

/*
 * Settings that production refuses: secrets that can be guessed or are used twice, keys and addresses whose private key is public,
 * and unencrypted connections to other machines (http for money, keys or requests of callers, and Postgres without TLS).
 */

/**
 * Minimum length of each secret, in characters. Seeds have 32 bytes, and callers' keys may be shorter than the service's own
 * secrets.
 */
const secrets = {
  FACILITATOR_KEYS: 64,
  ISSUER_KEYS: 64,
  ANCHOR_KEY: 64,
  SOLANA_FEE_PAYER_KEY: 32,
  SEAL_KEY: 32,
  SUBGRAPH_SECRET: 32,
  METRICS_TOKEN: 32,
  BOARD_OPS_SECRET: 32,
  BOARD_INBOUND_SECRET: 32,
  API_KEYS: 16,
  DEMO_KEYS: 16,
  WAIVER_KEYS: 16,
} as const satisfies Partial<Record<VariableName, number>>;
type SecretName = keyof typeof secrets;
const names = Object.keys(secrets) as SecretName[];

const listed: ReadonlySet<SecretName> = new Set([
  ...(['FACILITATOR_KEYS', 'ISSUER_KEYS', 'API_KEYS', 'DEMO_KEYS', 'WAIVER_KEYS'] as const),
]);

/** Minimum number of different characters. Random text of 16 characters or more practically never has fewer. */
const DISTINCT_MIN = 6;
/** Matches a text that is one piece repeated, of any length. */
const REPEATED = /^(.+?)\1+$/s;

/** Faults of secrets that can be guessed, and of secrets that are used twice: a leak of one use would disclose the other. */
export function weakSecretFaults(environment: Environment): VariableFault[] {
  const given = names.flatMap(variable => valuesOf(variable, environment).map(value => ({ variable, value })));
  const first = new Map<string, SecretName>();
  return given.flatMap(({ variable, value }): VariableFault[] => {
    const before = first.get(value);
    first.set(value, before ?? variable);
    const problem = weakness(value, secrets[variable]) ?? (before && sameAs(before, variable));
    return problem ? [{ variable, problem }] : [];
  });
}

function valuesOf(variable: SecretName, environment: Environment): string[] {
  const text = environment[variable] ?? '';
  const values = listed.has(variable) ? text.split(',') : [text];
  return values.map(value => spelt(value.trim())).filter(Boolean);
}

/** Normalizes a seed. With or without 0x and in either case it counts as the same value. */
function spelt(value: string): string {
  return /^(0x)?[0-9a-f]{64}$/i.test(value) ? value.replace(/^0x/i, '').toLowerCase() : value;
}

function weakness(value: string, chars_min: number): string | null {
  if (value.length < chars_min) return `shorter than ${chars_min} characters`;
  const repeated = REPEATED.test(value) || new Set(value).size < DISTINCT_MIN;
  return repeated ? 'made of few characters or a repeated piece, so it can be guessed' : null;
}

function sameAs(before: SecretName, variable: SecretName): string {
  return before === variable
    ? 'contains the same value twice'
    : `the same value as ${before}; use a different one for each`;
}

/**
 * Accounts whose private keys are published, so that anyone can take their money: the twenty of anvil and hardhat ("test test …
 * junk"), and those of this repository on Solana.
 */
const known: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
  '0xbcd4042de499d14e55001ccbb24a551f3b954096',
  '0x71be63f3384f5fb98995898a86b02fb2426c5788',
  '0xfabb0ac9d68b0b445fb7357272ff202c5651694a',
  '0x1cbd3b2770909d4e10f157cabc84c7264073c9ec',
  '0xdf3e18d64bc6a983f673ab319ccae4f1a57c7097',
  '0xcd3b766ccdd6ae721141f452c550ca635964ce71',
  '0x2546bcd3c84621e976d8185a91a922ae77ecec30',
  '0xbda5747bfd65f08deb54cb465eb87d40e51b197e',
  '0xdd2fd4581271e230360230f9337d5c0430bf44c0',
  '0x8626f6940e2eb28930efb4cef49b2d1f2c9c1199',
  '5tugFz1gVzpwbVnxy78d3LopHuWBArMRVej3QNKQYNQy',
  '25ad8ZQaUKgiYjvSDz7yqZAqHDvkiBJUyywonzmkwREj',
  'GUFoHjxDzsaaW57GmrmGqGpSgE3HZdQDBsWfo4Hov5Uw',
  '43XxxMUx6vtR8tWkGeAK9qczVo8k8cwUnYSLUENNHF1M',
  'tCBxRnfi6j5LfqEVuv2Fouta1jxQS7HfX546NmjJJaH',
  'Dztu63uPaeWjNwr3swMeUUUBXjGjqN11B7vibttnzLjq',
]);

/** The variables that contain a key or an address, each with a function that returns the accounts of its value. */
const accounts = {
  FACILITATOR_KEYS: accountsOfSeeds,
  ISSUER_KEYS: accountsOfSeeds,
  ANCHOR_KEY: accountsOfSeeds,
  PAY_TO_BASE: (text: string) => [text.toLowerCase()],
  SOLANA_FEE_PAYER_KEY: accountsOfSolanaKey,
  PAY_TO_SOLANA: (text: string) => [text],
} as const satisfies Partial<Record<VariableName, (text: string) => readonly string[]>>;

/** Faults of variables with a key or address whose private key is published. */
export function knownKeyFaults(environment: Environment): VariableFault[] {
  return (Object.keys(accounts) as (keyof typeof accounts)[])
    .filter(variable => accounts[variable](environment[variable] ?? '').some(account => known.has(account)))
    .map(variable => ({ variable, problem: 'belongs to a development key, which is public; use one of your own' }));
}

/** The accounts of seeds. Invalid seeds are skipped, because the schema of the variable reports them. */
function accountsOfSeeds(text: string): readonly string[] {
  const seeds = text.split(',').map(seed => seed.trim().replace(/^0x/i, ''));
  return seeds.filter(seed => /^[0-9a-f]{64}$/i.test(seed)).flatMap(seed => accountOf(Buffer.from(seed, 'hex')));
}

function accountOf(seed: Buffer): readonly string[] {
  try {
    return [baseAddress(seed).toLowerCase()];
  } catch {
    // The seed is zero, or not below the order of the curve.
    return [];
  }
}

function accountsOfSolanaKey(text: string): readonly string[] {
  const key = solanaKey().safeParse(text);
  return key.success ? [solanaAddress(key.data)] : [];
}

/**
 * Variables with URLs. Requests to these URLs contain money, keys or text of callers, and responses are trusted, so they must be
 * encrypted. Callers send the same data to BASE_URL.
 */
const confidential: readonly VariableName[] = [
  ...(['FACILITATOR_URL', 'SUBGRAPH_URLS', 'ROUTER_URL', 'HUBS', 'WITNESSES'] as const),
  ...(['BASE_RPC_URL', 'SOLANA_RPC_URL', 'NANO_RPC_URL', 'BASE_URL'] as const),
];

/** Faults of such URLs by http to another machine. On the same machine no network can be intercepted. */
export function plainHttpFaults(environment: Environment): VariableFault[] {
  return confidential
    .filter(variable => urlsIn(environment[variable] ?? '').some(leavesInTheClear))
    .map(variable => ({ variable, problem: 'http to another machine is not encrypted; production requires https' }));
}

/** The URLs in a variable whose value is a URL, a JSON object of URLs, or a JSON list of hubs or witnesses. */
function urlsIn(value: string): string[] {
  try {
    const entries: unknown[] = Object.values(JSON.parse(value) as object);
    return entries.map(entry => String(isJsonObject(entry) ? (entry.base_url ?? entry.url) : entry));
  } catch {
    return [value];
  }
}

/** Whether requests to that URL are sent unencrypted to another machine. */
export function leavesInTheClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isHere(hostname);
}

/** Whether a host name in a URL is this machine. */
function isHere(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname);
}

/** Values of sslmode that always encrypt. */
const secured: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);

/** Faults of a connection to Postgres on another machine without TLS, unless DATABASE_PLAIN allows it. */
export function plainPostgresFaults({ DATABASE_URL = '', DATABASE_PLAIN }: Environment): VariableFault[] {
  if (DATABASE_PLAIN === 'intended' || !leavesUnsecured(DATABASE_URL)) return [];
  const way_out = 'set sslmode to require or verify-full, or DATABASE_PLAIN to intended if the network is your own';
  return [{ variable: 'DATABASE_URL', problem: `connects to another machine without TLS; ${way_out}` }];
}

function leavesUnsecured(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, searchParams } = new URL(text);
  // The parameter takes precedence over the URL's host. A path is a socket on this machine.
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  if (host === '' || host.startsWith('/') || isHere(host)) return false;
  const modes = searchParams.getAll('sslmode');
  if (modes.length === 0) return !['true', '1'].includes(searchParams.get('ssl') ?? '');
  return !modes.every(mode => secured.has(mode));
}
