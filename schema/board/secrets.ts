import { english } from 'viem/accounts';
import { issuedSecrets, otherSecrets, type SecretFormat } from './secret-formats.ts';

/* Whether a text gives a secret away. Pure. */

const formats: readonly SecretFormat[] = [...issuedSecrets, ...otherSecrets];
const seedWords: ReadonlySet<string> = new Set(english);
/** The shortest phrase of BIP-39. Of the words that sentences are made of most are not in its list, so that none has so many. */
const SEED_WORDS_MIN = 12;

export function holdsSecret(text: string): boolean {
  return formats.some(({ spelling }) => spelling.test(text)) || holdsSeedPhrase(text);
}

/** In a row, whatever stands between them: spaces, commas, numbers. */
function holdsSeedPhrase(text: string): boolean {
  let run = 0;
  for (const word of text.toLowerCase().split(/[^a-z]+/)) {
    if (word === '') continue;
    run = seedWords.has(word) ? run + 1 : 0;
    if (run >= SEED_WORDS_MIN) return true;
  }
  return false;
}
