import { ed25519 } from '@noble/curves/ed25519';
import { english } from 'viem/accounts';
import { decodedBase58 } from '../base58.ts';
import { issuedSecrets, otherSecrets, type SecretFormat } from './secret-formats.ts';

/* Whether a text contains a secret. Pure. */

const formats: readonly SecretFormat[] = [...issuedSecrets, ...otherSecrets];
const seedWords: ReadonlySet<string> = new Set(english);
/** BIP-39: the first four letters identify each word. */
const seedBeginnings: ReadonlySet<string> = new Set(english.map(word => word.slice(0, 4)));
/** The shortest phrase of BIP-39. Most of the words that sentences are made of are not in its list, so no sentence has so many. */
const SEED_WORDS_MIN = 12;

export function holdsSecret(text: string): boolean {
  return (
    formats.some(({ spelling }) => spelling.test(text)) ||
    holdsSolanaKey(text) ||
    holdsSeedPhrase(text) ||
    holdsScattered(text)
  );
}

/** The form in which a wallet of Solana writes its key, and the chain a signature, which names a transaction. */
const SOLANA = /(?<![1-9A-HJ-NP-Za-km-z])[1-9A-HJ-NP-Za-km-z]{86,88}(?![1-9A-HJ-NP-Za-km-z])/g;
const SOLANA_KEY_BYTES = 64;

/** The second half of such a key is the public key of the first (RFC 8032); that of a signature is not. */
function holdsSolanaKey(text: string): boolean {
  return [...text.matchAll(SOLANA)].some(([found]) => {
    const bytes = decodedBase58(found);
    if (bytes?.length !== SOLANA_KEY_BYTES) return false;
    const half = SOLANA_KEY_BYTES / 2;
    return Buffer.compare(ed25519.getPublicKey(bytes.subarray(0, half)), bytes.subarray(half)) === 0;
  });
}

/** Separators that may break up a key so that its form is not recognised. */
const BREAKS = /[\s.,;|"'`+\\]+/g;
/** For keys whose form contains none of these characters. */
const WIDE_BREAKS = /[\s.,;|"'`+\\:_/*~-]+/g;
/** UUIDs (RFC 9562) and hashes: two UUIDs side by side have as many digits as a key. */
const NAMES =
  /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?<![0-9a-z])(?:0x)?[0-9a-f]{64}(?![0-9a-z])/gi;

interface ScatteredSecret extends SecretFormat {
  readonly breaks: RegExp;
  readonly signs_per_turn_max: number;
}

const SIGNS_PER_TURN_MAX = 4;
/**
 * Prose never consists of hexadecimal digits alone, so few turns tell a key from a list of numbers; one key in 6,000
 * has less than one in four digits.
 */
const HEX_SIGNS_PER_TURN_MAX = 16;
const AWS = 'AWS';
const hex: SecretFormat = { issuer: 'hex', spelling: /[0-9a-f]{64,}/i };
const scattered: readonly ScatteredSecret[] = [
  ...issuedSecrets.map(it => ({ ...it, breaks: BREAKS, signs_per_turn_max: SIGNS_PER_TURN_MAX })),
  ...[BREAKS, WIDE_BREAKS].map(breaks => ({ ...hex, breaks, signs_per_turn_max: HEX_SIGNS_PER_TURN_MAX })),
  // Mostly upper-case letters, so it changes kind less often; prefix and length identify it.
  ...issuedSecrets
    .filter(({ issuer }) => issuer === AWS)
    .map(it => ({ ...it, breaks: WIDE_BREAKS, signs_per_turn_max: 10 })),
];

/**
 * Prose without its spaces may look like a key, with one difference: in keys every second character is of another kind (upper case, lower
 * case, digit) than the one before it, in prose hardly any.
 */
function holdsScattered(text: string): boolean {
  const named = text.replace(NAMES, '#');
  const [narrow, wide] = [named.replace(BREAKS, ''), named.replace(WIDE_BREAKS, '')];
  if (wide.length === named.length) return false;
  return scattered.some(({ spelling, breaks, signs_per_turn_max }) => {
    const [found] = spelling.exec(breaks === BREAKS ? narrow : wide) ?? [];
    return found !== undefined && turnsOf(found) * signs_per_turn_max >= Math.min(found.length, SIGNS_JUDGED);
  });
}

/** Number of characters that are judged, because prose may follow the key. */
const SIGNS_JUDGED = 64;

function turnsOf(found: string): number {
  const kinds = [...found.slice(0, SIGNS_JUDGED)].map(sign => (/\d/.test(sign) ? 0 : /[A-Z]/.test(sign) ? 1 : 2));
  return kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
}

/** Words in a row, with anything between them: spaces, commas, numbers. */
function holdsSeedPhrase(text: string): boolean {
  let run = 0;
  for (const word of text.toLowerCase().split(/[^a-z]+/)) {
    if (word === '') continue;
    run = seedWords.has(word) || seedBeginnings.has(word) ? run + 1 : 0;
    if (run >= SEED_WORDS_MIN) return true;
  }
  return false;
}
