import type { VariableFault } from './fault.ts';
import type { Environment, VariableName } from './variables.ts';

/* Refuses, in production, secrets that can be guessed or that serve two purposes. */

/** How many characters each secret has at least: seeds are 32 bytes, and callers' keys may be shorter than our own secrets. */
export const secrets = {
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

/** Different characters. Random text, of 16 characters already, practically never has as few. */
const DISTINCT_MIN = 6;
/** The same again and again, however long that is. */
const REPEATED = /^(.+?)\1+$/s;

/** What production refuses: secrets that can be guessed, and one that is used twice: whoever has either has both. */
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

/** One seed is one, with 0x or without, in whatever case. */
function spelt(value: string): string {
  return /^(0x)?[0-9a-f]{64}$/i.test(value) ? value.replace(/^0x/i, '').toLowerCase() : value;
}

function weakness(value: string, chars_min: number): string | null {
  if (value.length < chars_min) return `shorter than ${chars_min} characters`;
  const repeated = REPEATED.test(value) || new Set(value).size < DISTINCT_MIN;
  return repeated ? 'the same few characters over and over: anybody can guess it' : null;
}

function sameAs(before: SecretName, variable: SecretName): string {
  return before === variable ? 'holds the same one twice' : `the same as in ${before}: each has to be another`;
}
