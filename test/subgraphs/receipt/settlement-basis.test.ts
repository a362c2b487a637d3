import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { receiptDocument } from '../../../subgraphs/receipt/receipt/document.ts';
import { Receipt } from '../../../subgraphs/receipt/receipt/receipt.entity.ts';
import { receiptFault } from '../../../subgraphs/receipt/receipt/stored-check.ts';
import { verifyReceipt } from '../../../subgraphs/receipt/verify/receipt.ts';
import { base_url, issue, issuer } from '../../harness/receipt/issue.ts';
import { paidCall, waivedCall } from '../../harness/vectors/receipt-facts.ts';

/* Since receipt policy 4 the basis of a settlement is signed under its own name. Before, it was signed as settled_by. */

interface IssuedDocument {
  readonly document: JsonObject;
  readonly row: Record<string, string>;
}

/** Receipts that were issued under policy 3 by the code of that time. */
const before = JSON.parse(
  readFileSync(new URL('../../harness/fixtures/receipts-of-policy-3.json', import.meta.url), 'utf8'),
) as { readonly jwks: JsonObject } & Readonly<Record<'observed' | 'vouched' | 'waived', IssuedDocument>>;

const laneMembers = ['anchor_changed_since_binding', 'freeze', 'unverifiable_from_registry', 'local_check', 'binding'];
const laneOf = (document: JsonObject) =>
  Object.fromEntries(Object.entries(document).filter(([name]) => laneMembers.includes(name)));

/** The receipt as the database returns it. */
function stored({ row }: IssuedDocument): Receipt {
  const { amount, issuedAt, collectedAt } = row;
  const columns = { ...row, issuedAt: new Date(issuedAt ?? ''), collectedAt: new Date(collectedAt ?? '') };
  return Object.assign(new Receipt(), columns, { amount: amount ? BigInt(amount) : null });
}

it.each(['observed', 'vouched', 'waived'] as const)('a receipt (%s) that signed settled_by stands as it was', name => {
  const { document } = before[name];
  expect(verifyReceipt(document, before.jwks)).toMatchObject({ kind: 'valid' });
  const shown = receiptDocument(stored(before[name]), base_url, document.profile as 'development');
  expect(receiptFault(stored(before[name]))).toBeNull();
  // The shown receipt has the former members, members that are computed when it is shown, and instructions for verifying it today.
  const { verification = null } = shown;
  expect(shown).toEqual({ ...document, ...laneOf(shown), verification, settled_by: document.settled_by ?? null });
  expect(verifyReceipt(shown, before.jwks)).toMatchObject({ kind: 'valid' });
});

it('one that signed settled_by is held to it as ever', () => {
  const { document } = before.observed;
  const other = verifyReceipt({ ...document, settled_by: 'receipt' }, before.jwks);
  expect(other).toMatchObject({ kind: 'invalid', code: 'copy_mismatch' });
  const altered = Object.assign(stored(before.observed), { settledBy: 'receipt' });
  expect(receiptFault(altered)).toBe('proof_outcome');
});

it.each([
  ['observed_transfer', { ...paidCall, settled_by: 'observed_transfer' }],
  ['receipt', { ...paidCall, settled_by: 'receipt' }],
  [null, waivedCall],
] as const)('a new receipt shows settled_by %s in the lane and signs no such member', async (settled_by, facts) => {
  const document = await issue(facts, settled_by === null ? null : 1);
  expect(document.settled_by).toBe(settled_by);
  expect(document.payload).not.toHaveProperty('settled_by');
  expect((document.payload as JsonObject).settlement_basis ?? null).toBe(settled_by);
  const verified = verifyReceipt(document, issuer.jwks);
  expect(verified).toMatchObject({ kind: 'valid', report: { unsigned: { unknown: [] } } });
  if (verified.kind === 'valid') expect(verified.report.unsigned.lane).toContain('settled_by');
});
