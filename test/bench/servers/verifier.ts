import { compactVerify, importJWK } from 'jose';
import { canonicalJson, isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { verifyReceipt } from '../../../subgraphs/receipt/verify/receipt.ts';
import {
  base64url,
  parseJws,
  verifyEd25519,
  verifyEip191,
  verifyEs256,
} from '../../../subgraphs/receipt/verify/signature.ts';
import { issue, issuer } from '../../harness/receipt/issue.ts';
import { paidCall } from '../../harness/vectors/receipt-facts.ts';
import { serveTasks } from '../child/answer.ts';

/* Verifies receipts one after the other on one thread: in full, only their signatures, or only the token by jose. */

const RECEIPTS = 64;
const keys = issuer.jwks as JsonObject;
const receipts = await Promise.all(
  Array.from({ length: RECEIPTS }, (_, at) => issue({ ...paidCall, task_id: `${paidCall.task_id}${at}` })),
);
const [first] = (Array.isArray(keys.keys) ? keys.keys : []).filter(
  (key): key is JsonObject => isJsonObject(key) && key.kid === issuer.kid,
);
const jose_key = await importJWK({ ...first }, 'ES256');

/** Parts of each receipt, which are parsed before the measurement. */
const apart = receipts.map(receipt => {
  const { jws, value } = receipt.issuer_signature as { jws: string; value: string };
  const parsed = parseJws(jws);
  if (parsed === null) throw new Error('no token');
  return { receipt, jws, parsed, value: base64url(value), canonical: canonicalJson(receipt.payload ?? null) };
});

const receiptAt = (turn: number) => apart[turn % RECEIPTS] as (typeof apart)[number];

function whole(count: number): void {
  for (let turn = 0; turn < count; turn++)
    if (verifyReceipt(receiptAt(turn).receipt, keys).kind !== 'valid') throw new Error('a receipt is not valid');
}

/** Checks only the four signatures, which any verification of a receipt must check. */
function signatures(count: number): void {
  for (let turn = 0; turn < count; turn++) {
    const { receipt, parsed, value, canonical } = receiptAt(turn);
    const text = String(receipt.payload_hash);
    const held =
      verifyEs256(keys, issuer.kid, parsed.input, parsed.signature) &&
      verifyEs256(keys, issuer.kid, canonical, value) &&
      verifyEd25519(keys, receipt.signature, text) &&
      verifyEip191(keys, receipt.co_signature, text);
    if (!held) throw new Error('a signature does not hold');
  }
}

/** Checks only the token, which any JOSE library can verify. */
async function token(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++)
    await compactVerify(receiptAt(turn).jws, jose_key, { algorithms: ['ES256'] });
}

serveTasks({}, { whole, signatures, token }, () => {});
