import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { verify } from '../../../../subgraphs/receipt/verify/module.ts';
import { issuer } from '../../../harness/receipt/issue.ts';
import { type DocumentSpec, documentSpecs, makeDocument } from '../../../harness/receipt/random-documents.ts';
import { judgeAudit } from '../../../harness/second-verifier/audit.ts';
import type { Members } from '../../../harness/second-verifier/bytes.ts';
import { judgeReceipt } from '../../../harness/second-verifier/receipt.ts';

const DOCUMENTS = 1_000;

/** Copies of members that their version cannot sign yet, which random documents rarely contain. */
const receipt = { audit: false, paid: true, facts: {}, claims: {}, change: null } as const;
const copied: readonly DocumentSpec[] = [
  { ...receipt, version: 8, beside: { claim_id: null } },
  { ...receipt, version: 8, beside: { claim_id: 7 } },
  { ...receipt, version: 9, beside: { payload_hash: 'f'.repeat(64) } },
  { ...receipt, version: 10, beside: { vendor_blind: true } },
  { ...receipt, version: 10, beside: { waived_by: 'live_key' } },
];

/** Number of each result, so that the test can check that both occurred. */
const seen = new Map<string, number>();

async function compare(ingredients: DocumentSpec): Promise<void> {
  const document = await makeDocument(ingredients);
  const keys = issuer.jwks as JsonObject;
  const first = verify(document, keys);
  const judge = document.schema === 'svc402.receipt_audit.v1' ? judgeAudit : judgeReceipt;
  const second = judge(document as Members, keys as Members);
  expect([second.valid, second.broken], first.fault?.sentence).toEqual([first.valid, first.report?.broken ?? []]);
  if (first.valid) expect(second.claims).toEqual(first.claims);
  const what = `${ingredients.audit ? 'audit' : 'receipt'} ${ingredients.version} ${first.valid ? 'valid' : 'invalid'}`;
  seen.set(what, (seen.get(what) ?? 0) + 1);
}

it(`two verifiers say the same of ${DOCUMENTS} random documents of versions 8 to 11, good and altered`, async () => {
  const seed = Number(process.env.SVC_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.info(`second verifier: seed ${seed} (SVC_TEST_SEED=${seed} runs the same again)`);
  await fc.assert(fc.asyncProperty(documentSpecs, compare), {
    seed,
    numRuns: DOCUMENTS,
    examples: copied.map((each): [DocumentSpec] => [each]),
  });
  for (const version of [8, 9, 10, 11])
    for (const what of ['receipt', 'audit'])
      for (const outcome of ['valid', 'invalid'])
        expect(seen.get(`${what} ${version} ${outcome}`) ?? 0, `${what} ${version} ${outcome}`).toBeGreaterThan(3);
});
