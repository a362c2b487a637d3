/*
 * Verifies a receipt with nothing but jose: the issuer's signature, and that no member differs from what was signed.
 *
 * Needs: the receipt as its first argument, a file or the URL that buy-chat prints, and the service whose keys are trusted
 * (SERVICE_URL, default http://127.0.0.1:4000). It pays nothing and needs no wallet.
 * Prints: who paid how much in which transaction, or what is wrong. Only the chain shows that money moved.
 */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { createLocalJWKSet, type JWK, jwtVerify } from 'jose';

const { SERVICE_URL = 'http://127.0.0.1:4000' } = process.env;
const [source] = process.argv.slice(2);

interface Receipt {
  readonly issuer_signature: { readonly jws: string };
  readonly payload: object;
}
/** What is signed, as far as it is looked at here. Amounts are strings of digits in atomic USDC. */
interface Claims {
  readonly payment?: { readonly ref: string | null; readonly payer: string; readonly gross_amount: string };
  /** A transfer that the service has seen, and did not settle itself. */
  readonly observed_transfer?: { readonly payer: string; readonly amount: string };
  readonly payment_ref?: string | null;
  readonly caller_binding: { readonly payer_wallet: string | null };
}

async function load<T>(place: string): Promise<T> {
  if (!/^https?:/.test(place)) return JSON.parse(await readFile(place, 'utf8'));
  const response = await fetch(place, { headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`${place}: ${response.status}`);
  return (await response.json()) as T;
}

/** @throws Error saying what is wrong */
async function verify(receipt: Receipt, keys: readonly (JWK & { readonly revoked?: object })[]): Promise<string> {
  // jose does not know revocations: it would accept what a stolen key signs.
  const trusted = createLocalJWKSet({ keys: keys.filter(({ revoked }) => !revoked) });
  const { payload: claims } = await jwtVerify<Claims>(receipt.issuer_signature.jws, trusted, { algorithms: ['ES256'] });
  const { payment: paid, observed_transfer, payment_ref = paid?.ref ?? null, caller_binding } = claims;
  const amount = paid?.gross_amount ?? observed_transfer?.amount;

  // A receipt repeats the signed facts for people to read. A copy that differs was altered.
  const derived = { payment_ref, amount, payer_wallet: caller_binding.payer_wallet };
  const signed: Record<string, unknown> = { claim_id: undefined, book_id: undefined, ...claims, ...derived };
  for (const [name, copy] of [...Object.entries(receipt.payload), ...Object.entries(receipt)])
    if (name in signed && !isDeepStrictEqual(copy, signed[name])) throw new Error(`${name} is not what was signed`);
  return payment_ref === null
    ? 'nothing was paid to this service'
    : `${(paid ?? observed_transfer)?.payer} paid ${amount} atomic USDC in ${payment_ref}`;
}

if (source === undefined) {
  console.error('Usage: npm run example -- verify-receipt RECEIPT');
  console.error('RECEIPT is a file, or the URL of a receipt as buy-chat prints it.');
  process.exitCode = 1;
} else {
  const receipt = await load<Receipt>(source);
  // Not the keys that the receipt names: a forged one names keys of the forger.
  const { keys } = await load<{ keys: JWK[] }>(`${SERVICE_URL}/.well-known/jwks.json`);
  try {
    console.log(`valid: ${await verify(receipt, keys)}`);
  } catch (fault) {
    console.error(`invalid: ${(fault as Error).message}`);
    process.exitCode = 1;
  }
}
