import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../../../schema/canonical-json.ts';
import { openIssuer } from '../../../../subgraphs/receipt/issuer/signing-keys.ts';
import { verifyDispute } from '../../../../subgraphs/receipt/verify/dispute.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import { boundRequest, disputedCall, FIELD, filing, SALT } from '../../../harness/ledger/disputes.ts';
import { collectAll, issuer, withBooks } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/** A signed verdict on a charge that was made twice. */
let verdict: JsonObject;
let keys: JsonObject;
const AGENT = 5;
const args = { model: 'small-1', messages: [] };
const [first, second] = [SALT, '2'.repeat(32)];
/** An issuer whose key was replaced just now. Both keys are published. */
const rotated = openIssuer(['22'.repeat(32), '11'.repeat(32)], { base_url: issuer.base_url, now_ms: Date.now });

beforeAll(async () => {
  const database = await freshStore();
  await withBooks(database, AGENT);
  await database.transaction(tx =>
    collectAll(tx, [
      disputedCall(AGENT, 1, { request_hash: boundRequest(args, first) }),
      disputedCall(AGENT, 2, { request_hash: boundRequest(args, second) }),
    ]),
  );
  const evidence = { task_id: 'task_5_1', request: { field: FIELD, args }, salt: second, other_salt: first };
  const claim = { task_id: 'task_5_2', claim_type: 'double_charge', evidence } as const;
  ({ verdict } = await filing(database, rotated)(AGENT, claim));
  keys = rotated.jwks;
});

/** Signs any content with the issuer's key. */
function signedAnyhow(members: JsonObject): JsonObject {
  const { signature: _, ...claims } = { ...verdict, ...members };
  const value = rotated.signCanonical(canonicalJson(claims));
  return { ...claims, signature: { alg: 'ES256', kid: rotated.kid, value } };
}

type Fact = { readonly name: string; readonly value: Json; readonly from: string };
const facts = () => verdict.facts as unknown as readonly Fact[];
const withFact = (name: string, change: JsonObject) =>
  facts().map(fact => (fact.name === name ? { ...fact, ...change } : fact)) as unknown as Json;
const receipts = () => verdict.receipts as { readonly disputed: JsonObject; readonly other: JsonObject };

describe('verifyDispute', () => {
  it('is valid as it was signed: by a newer key than its receipts, and by both of the published set', () => {
    expect(verdict).toMatchObject({ outcome: 'refund', reason: 'charged_twice' });
    expect(verifyDispute(verdict, keys)).toMatchObject({
      kind: 'valid',
      checks: expect.arrayContaining([
        { code: 'outcome_does_not_follow', sentence: expect.stringContaining('run again here') },
      ]),
      report: { unchecked: expect.arrayContaining([expect.stringContaining('A verdict moves no money')]) },
    });
    expect(rotated.kid).not.toBe((receipts().other.issuer_signature as JsonObject).kid);
    const alone = openIssuer(['22'.repeat(32)], { base_url: issuer.base_url, now_ms: issuer.now_ms }).jwks;
    expect(verifyDispute(verdict, alone)).toMatchObject({ kind: 'invalid', code: 'receipt_invalid' });
  });

  it('whatever member is altered, added or left out, it is not', () => {
    const names = Object.keys(verdict).filter(name => name !== 'signature');
    const altered = fc.oneof(
      fc
        .tuple(fc.constantFrom(...names), fc.jsonValue())
        .filter(([name, value]) => canonicalJson(verdict[name] ?? null) !== canonicalJson(value as Json)),
      fc.tuple(
        fc.string().filter(name => !(name in verdict)),
        fc.jsonValue(),
      ),
    );
    fc.assert(
      fc.property(altered, ([name, value]) => {
        const other = Object.fromEntries([...Object.entries(verdict), [name, value as Json]]);
        expect(verifyDispute(other, keys).kind).toBe('invalid');
      }),
    );
    for (const name of [...names, 'signature']) {
      const { [name]: _, ...rest } = verdict;
      expect(verifyDispute(rest, keys).kind).toBe('invalid');
    }
  });

  it.each<[string, string, () => JsonObject]>([
    ['outcome_does_not_follow', 'the verdict says stand, and by its facts it is refund', () => ({ outcome: 'stand' })],
    ['outcome_does_not_follow', 'are not those of its outcome', () => ({ means: 'USDC was sent back.' })],
    ['outcome_does_not_follow', 'by its facts it is charged_twice', () => ({ reason: 'no_output' })],
    ['outcome_does_not_follow', 'disputed.intent_shared, which is missing', () => ({ evidence: {} })],
    [
      'outcome_does_not_follow',
      'disputed.intent_id, which is missing',
      () => ({ facts: facts().filter(({ name }) => name !== 'disputed.intent_id') as unknown as Json }),
    ],
    [
      'outcome_does_not_follow',
      'it is stand (arrival_unverified)',
      () => ({ facts: withFact('disputed.evidence', { value: 'ARRIVAL_UNVERIFIED' }) }),
    ],
    ['fact_differs', 'disputed.attempt_index', () => ({ facts: withFact('disputed.attempt_index', { value: 9 }) })],
    ['fact_differs', 'other.leaf_index', () => ({ facts: withFact('other.leaf_index', { value: 99 }) })],
    ['fact_differs', 'disputed.amount', () => ({ facts: withFact('disputed.amount', { value: '1' }) })],
    ['fact_differs', 'cannot come from log_leaf', () => ({ facts: withFact('disputed.amount', { from: 'log_leaf' }) })],
    ['fact_differs', 'not a fact', () => ({ facts: [{ name: 'disputed.colour', value: 1, from: 'book_row' }] })],
    ['fact_differs', 'disputed.payload_hash', () => ({ receipts: {} })],
    [
      'receipt_invalid',
      'The receipt of the other row belongs to another row',
      () => ({
        receipts: { ...receipts(), other: receipts().disputed },
      }),
    ],
    [
      'receipt_invalid',
      'The receipt of the disputed row is not valid',
      () => ({
        receipts: { ...receipts(), disputed: { ...receipts().disputed, payload: {} } },
      }),
    ],
    [
      'receipt_invalid',
      'shows another leaf_index',
      () => ({
        receipts: { ...receipts(), disputed: without(receipts().disputed, 'leaf_index') },
      }),
    ],
    ['receipt_invalid', 'belongs to another task', () => ({ task_id: 'task_5_1' })],
    ['rule_unknown', 'does not know', () => ({ rule_version: 5 })],
    ['revision_unsaid', 'revision', () => ({ revision: 0 })],
    ['revision_unsaid', 'supersedes', () => ({ revision: 2 })],
    ['revision_unsaid', 'status_url', () => ({ status_url: 'https://elsewhere.example/dispute/1' })],
    ['outcome_does_not_follow', '`final` is wrong', () => ({ final: false })],
    ['outcome_does_not_follow', 'standing_task_id does not follow', () => ({ standing_task_id: 'task_5_9' })],
    [
      'outcome_does_not_follow',
      'owed_back does not follow',
      () => ({ owed_back: { task_id: 'task_5_2', amount: '9' } }),
    ],
    ['outcome_does_not_follow', 'decides_after does not follow', () => ({ decides_after: '2026-01-01T00:00:00.000Z' })],
    ['not_a_verdict', 'moves_money', () => ({ moves_money: true })],
    ['not_a_verdict', 'schema', () => ({ schema: 'svc402.refusal.v1' })],
    ['link_foreign', 'does not point to the issuer', () => ({ verify_jwks: 'https://elsewhere.example/jwks.json' })],
  ])('%s, though the issuer signed it: %s', (code, sentence, members) => {
    expect(verifyDispute(signedAnyhow(members()), keys)).toMatchObject({
      kind: 'invalid',
      code,
      sentence: expect.stringContaining(sentence),
    });
  });
});

/** Verdicts that were signed by the code of that time. Their receipts have receipt policy 7. */
const before = JSON.parse(
  readFileSync(new URL('../../../harness/fixtures/verdicts-of-rules-1-and-2.json', import.meta.url), 'utf8'),
) as { readonly jwks: JsonObject } & Readonly<Record<'of_rule_1' | 'of_rule_2', Readonly<Record<string, JsonObject>>>>;

describe.each(['of_rule_1', 'of_rule_2'] as const)('a verdict %s', rule => {
  it.each(Object.entries(before[rule]))('runs again as it was decided: %s', (reason, document) => {
    expect(document).toMatchObject({ reason, rule_version: rule === 'of_rule_1' ? 1 : 2 });
    const verified = verifyDispute(document, before.jwks);
    expect(verified, JSON.stringify(verified)).toMatchObject({ kind: 'valid' });
    for (const receipt of Object.values(document.receipts as Record<string, JsonObject>)) {
      expect(receipt.payload).toMatchObject({ receipt_policy: { version: 7 } });
      expect(verifyReceipt(receipt, before.jwks)).toMatchObject({ kind: 'valid' });
    }
  });
});

/** Verdicts of rule 3. Their receipts have receipt policy 8. */
const by_third = JSON.parse(
  readFileSync(new URL('../../../harness/fixtures/verdicts-of-rule-3.json', import.meta.url), 'utf8'),
) as { readonly jwks: JsonObject; readonly of_rule_3: Readonly<Record<string, JsonObject>> };

describe('a verdict of_rule_3', () => {
  it.each(Object.entries(by_third.of_rule_3))('runs again as it was decided: %s', (reason, document) => {
    expect(document).toMatchObject({ reason, rule_version: 3 });
    const verified = verifyDispute(document, by_third.jwks);
    expect(verified, JSON.stringify(verified)).toMatchObject({ kind: 'valid' });
    for (const receipt of Object.values(document.receipts as Record<string, JsonObject>)) {
      expect(receipt.payload).toMatchObject({ receipt_policy: { version: 8 } });
      expect(verifyReceipt(receipt, by_third.jwks)).toMatchObject({ kind: 'valid' });
    }
  });

  it('does not verify as one of rule 4: it would have asked for the models of a rerun and the one that the hub named', () => {
    const document = by_third.of_rule_3.model_as_requested ?? {};
    const { signature: _, ...claims }: JsonObject = { ...document, rule_version: 4 };
    const value = rotated.signCanonical(canonicalJson(claims));
    const signed = { ...claims, signature: { alg: 'ES256', kid: rotated.kid, value } };
    expect(verifyDispute(signed, by_third.jwks)).toMatchObject({
      kind: 'invalid',
      sentence: expect.stringContaining('disputed.resend_model'),
    });
  });
});

function without(object: JsonObject, name: string): JsonObject {
  const { [name]: _, ...rest } = object;
  return rest;
}
