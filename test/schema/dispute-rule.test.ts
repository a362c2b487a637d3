import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import { type DisputeFactName, factNames } from '../../schema/dispute/facts.ts';
import { claimTypes, type DisputeReason, disputeReasons } from '../../schema/dispute/reasons.ts';
import { adjudicate, type DisputeClaim } from '../../schema/dispute/rule.ts';
import { evidences } from '../../schema/evidence.ts';

type Facts = Partial<Record<DisputeFactName, Json>>;

const readOf = (facts: Facts) => (name: DisputeFactName) => facts[name] ?? null;
const field = 'Mutation.createChatCompletion';
const salt = '1'.repeat(32);
const other_salt = '2'.repeat(32);
const args = { model: 'beta-1', messages: [] };
const bound = (request: JsonObject, with_salt: string) =>
  canonicalHash({ request_hash: canonicalHash({ field, args: request }), salt: with_salt });

const charged = {
  'disputed.evidence': 'collected',
  'disputed.amount': '2000',
  'disputed.settlement_vanished': false,
  'disputed.payload_hash': 'a',
  'disputed.hub': 'beta',
  'disputed.model': 'beta-1',
  'disputed.request_hash': bound(args, salt),
  'disputed.intent_id': 'bill',
  'disputed.attempt_index': null,
  'disputed.leaf_index': 7,
} as const satisfies Facts;
const before = {
  ...charged,
  'other.on_book': true,
  'other.evidence': 'collected',
  'other.amount': '2000',
  'other.settlement_vanished': false,
  'other.payload_hash': 'b',
  'other.request_hash': bound(args, other_salt),
  'other.intent_id': 'bill',
  'other.attempt_index': null,
  'other.leaf_index': 3,
} as const satisfies Facts;
const twice = { task_id: 'first', request: { field, args }, salt, other_salt };
const uncommitted = (omission: string): Facts => ({
  ...charged,
  'disputed.output_status': 'UNVERIFIED',
  'disputed.output_omission': omission,
});

/** For each reason facts and evidence that lead to it. */
const cases: Readonly<Record<DisputeReason, readonly [DisputeClaim['claim_type'], Facts, JsonObject?]>> = {
  nothing_charged: ['output_missing', { 'disputed.evidence': 'policy_blocked' }],
  charged_elsewhere: ['wrong_model', { 'disputed.evidence': 'foreign_ingest' }],
  arrival_unverified: ['double_charge', { 'disputed.evidence': 'ARRIVAL_UNVERIFIED' }],
  arrival_pending: ['output_missing', { 'disputed.evidence': 'RECORDED_BY_SETTLE' }],
  settlement_in_doubt: ['output_missing', { ...charged, 'disputed.settlement_vanished': true }],
  receipt_missing: ['output_missing', { ...charged, 'disputed.payload_hash': null }],
  evidence_unknown: ['output_missing', { 'disputed.evidence': 'constructor' }],
  output_committed: ['output_missing', { ...charged, 'disputed.output_status': 'committed' }],
  answered_on_resend: ['output_missing', { ...uncommitted('process_ended'), 'disputed.answered_on_resend': true }],
  no_output_sold: ['output_missing', uncommitted('no_input')],
  output_broke_off: ['output_missing', uncommitted('hub_broke_off')],
  output_not_kept: ['output_missing', uncommitted('process_ended')],
  no_output: ['output_missing', uncommitted('no_output')],
  commitment_unknown: ['output_missing', uncommitted('constructor')],
  no_model_sold: ['wrong_model', { ...charged, 'disputed.hub': 'svc' }, { model: 'beta-1' }],
  model_as_requested: ['wrong_model', charged, { request: { field, args }, salt }],
  model_delegated: ['wrong_model', charged, { model: 'svc/auto' }],
  requested_model_not_named: ['wrong_model', charged, { model: 5 }],
  request_not_proven: ['wrong_model', charged, { model: 'alpha-1' }],
  another_model_answered: [
    'wrong_model',
    { ...charged, 'disputed.model': 'alpha-1' },
    { request: { field, args }, salt },
  ],
  other_charge_not_named: ['double_charge', before],
  same_row: ['double_charge', before, { task_id: 'second' }],
  other_not_on_book: ['double_charge', charged, twice],
  other_not_charged: ['double_charge', { ...before, 'other.evidence': 'UNVERIFIED' }, twice],
  no_common_intent: ['double_charge', { ...before, 'disputed.intent_id': null, 'other.intent_id': null }, twice],
  attempts_differ: ['double_charge', { ...before, 'other.attempt_index': 1 }, twice],
  first_charge: ['double_charge', { ...before, 'other.leaf_index': 8 }, twice],
  charged_twice: ['double_charge', before, twice],
};

describe('adjudicate', () => {
  it.each(Object.entries(cases))('%s', (reason, [claim_type, facts, evidence = {}]) => {
    const claim = { claim_type, task_id: 'second', evidence };
    const [outcome] = disputeReasons[reason as DisputeReason];
    expect(adjudicate(claim, readOf(facts))).toMatchObject({ reason, outcome });
  });

  it('open as long as the other charge is, and a stamp has no output whatever its receipt says', () => {
    const claim = { claim_type: 'double_charge', task_id: 'second', evidence: twice } as const;
    const pending = { ...before, 'other.evidence': 'RECORDED_BY_SETTLE' };
    expect(adjudicate(claim, readOf(pending))).toMatchObject({ outcome: null, reason: 'arrival_pending' });
    const stamped = { ...uncommitted('no_output'), 'disputed.hub': 'svc' };
    const missing = { claim_type: 'output_missing', task_id: 'second', evidence: {} } as const;
    expect(adjudicate(missing, readOf(stamped))).toMatchObject({ reason: 'no_output_sold' });
  });

  it('a request that was proven is judged, whatever model is said beside it', () => {
    const evidence = { model: 'alpha-1', request: { field, args }, salt };
    const claim = { claim_type: 'wrong_model', task_id: 'second', evidence } as const;
    expect(adjudicate(claim, readOf(charged))).toMatchObject({ reason: 'model_as_requested' });
    const without = { field, args: { prompt: 'Hi' } };
    const hash = bound(without.args, salt);
    const unnamed = { ...claim, evidence: { model: 'alpha-1', request: without, salt } };
    expect(adjudicate(unnamed, readOf({ ...charged, 'disputed.request_hash': hash }))).toMatchObject({
      reason: 'request_not_proven',
    });
  });
});

const text = fc.oneof(fc.constantFrom('svc', 'committed', 'process_ended', '', 'bill', ...evidences), fc.string());
const value = fc.oneof(fc.constantFrom<Json>(null, true, false, 0, 1), text, fc.jsonValue() as fc.Arbitrary<Json>);
const anyFacts = fc.dictionary(fc.constantFrom(...factNames), value) as fc.Arbitrary<Facts>;
const anyEvidence = fc.oneof(
  fc.dictionary(fc.constantFrom('model', 'task_id', 'request', 'salt', 'other_salt', 'x'), value),
  fc.constant(twice),
) as fc.Arbitrary<JsonObject>;
const anyClaim = fc.record({ claim_type: fc.constantFrom(...claimTypes), task_id: text, evidence: anyEvidence });

describe('adjudicate, whatever it is asked', () => {
  it('is total: each claim comes to a reason that it has, and to its outcome', () => {
    fc.assert(
      fc.property(anyClaim, anyFacts, (claim, facts) => {
        const { reason, outcome } = adjudicate(claim, readOf(facts));
        expect(disputeReasons[reason][0]).toBe(outcome);
      }),
    );
  });

  it('is deterministic, and rests on the facts that it names and on no other', () => {
    fc.assert(
      fc.property(anyClaim, anyFacts, anyFacts, (claim, facts, others) => {
        const first = adjudicate(claim, readOf(facts));
        const kept = Object.fromEntries(first.used.map(name => [name, facts[name] ?? null]));
        expect(adjudicate(claim, readOf({ ...others, ...kept }))).toEqual(first);
        expect(new Set(first.used).size).toBe(first.used.length);
      }),
    );
  });

  it('owes nothing back where nothing was collected', () => {
    fc.assert(
      fc.property(anyClaim, anyFacts, value, (claim, facts, evidence) => {
        fc.pre(evidence !== 'collected');
        const { outcome } = adjudicate(claim, readOf({ ...facts, 'disputed.evidence': evidence }));
        expect(['refund', 'partial']).not.toContain(outcome);
      }),
    );
  });

  it('never owes both of two charges', () => {
    fc.assert(
      fc.property(anyFacts, fc.nat(), fc.nat(), (facts, leaf, other_leaf) => {
        fc.pre(leaf !== other_leaf);
        const known = { ...before, ...facts, 'disputed.leaf_index': leaf, 'other.leaf_index': other_leaf };
        const swapped = Object.fromEntries(
          Object.entries(known).map(([name, said]) => [
            name.startsWith('other.') ? name.replace('other.', 'disputed.') : name.replace('disputed.', 'other.'),
            said,
          ]),
        );
        const one = adjudicate({ claim_type: 'double_charge', task_id: 'second', evidence: twice }, readOf(known));
        const turned = { ...twice, task_id: 'second', salt: other_salt, other_salt: salt };
        const two = adjudicate({ claim_type: 'double_charge', task_id: 'first', evidence: turned }, readOf(swapped));
        expect([one.outcome, two.outcome].filter(outcome => outcome === 'refund').length).toBeLessThan(2);
      }),
    );
  });
});

describe('a request that was made under a session', () => {
  const delegation_hash = `0x${'3'.repeat(64)}`;
  const under = (with_salt: string) =>
    canonicalHash({ request_hash: canonicalHash({ field, args, delegation_hash }), salt: with_salt });
  const facts = { ...before, 'disputed.request_hash': under(salt), 'other.request_hash': under(other_salt) };
  const shown = (request: JsonObject, more: Partial<DisputeClaim> = {}): DisputeClaim => ({
    claim_type: 'double_charge',
    task_id: 'second',
    evidence: { ...twice, request },
    ...more,
  });

  it('is proven with the session, and without it or with another one not', () => {
    expect(adjudicate(shown({ field, args, delegation_hash }), readOf(facts))).toMatchObject({
      reason: 'charged_twice',
    });
    for (const other of [{}, { delegation_hash: `0x${'4'.repeat(64)}` }, { delegation_hash: 7 }] as JsonObject[])
      expect(adjudicate(shown({ field, args, ...other }), readOf(facts))).toMatchObject({
        reason: 'request_not_proven',
      });
    const claim = shown({ field, args, delegation_hash });
    expect(adjudicate(claim, readOf(before))).toMatchObject({ reason: 'request_not_proven' });
  });

  it('is none to the first rule, which never looked for one: what it has decided stays so', () => {
    const claim = shown({ field, args, delegation_hash }, { rule_version: 1 });
    expect(adjudicate(claim, readOf(facts))).toMatchObject({ reason: 'request_not_proven' });
    expect(adjudicate(claim, readOf(before))).toMatchObject({ reason: 'charged_twice' });
  });
});
