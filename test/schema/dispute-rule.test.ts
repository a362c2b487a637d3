import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import type { DisputeClaim } from '../../schema/dispute/claim.ts';
import { type DisputeFactName, factNames } from '../../schema/dispute/facts.ts';
import {
  claimTypes,
  type DisputeReason,
  disputeReasons,
  type FirstReason,
  verdictWords,
} from '../../schema/dispute/reasons.ts';
import { adjudicate, DISPUTE_RULE_VERSION, isKnownRule } from '../../schema/dispute/rule.ts';
import { evidences } from '../../schema/evidence.ts';
import { wordList } from '../../schema/words.ts';

type Facts = Partial<Record<DisputeFactName, Json>>;

const judged_at = '2026-11-10T12:00:00.000Z';
const earlier = '2026-11-10T11:59:59.999Z';
const later = '2026-11-10T12:00:00.001Z';
/** As the present rule is asked. */
const now = { judged_at, rule_version: DISPUTE_RULE_VERSION } as const;

const readOf = (facts: Facts) => (name: DisputeFactName) => facts[name] ?? null;
const field = 'Mutation.createChatCompletion';
const salt = '1'.repeat(32);
const other_salt = '2'.repeat(32);
const args = { model: 'beta-1', messages: [] };
/** Of every reason of rules 1 and 2: as verdicts have signed them. */
const WORDS_OF_FIRST = 'd59ac51005044d990a787c00ff5417f684f4ea27d73f14fffcf64e2e3a19f73f';
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

type Case = readonly [DisputeClaim['claim_type'], Facts, JsonObject?];

/** For each reason facts and evidence that lead to it, by the first rules. */
const casesOfFirst: Readonly<Record<FirstReason, Case>> = {
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

const asked = { requested_model: 'beta-1' };
const anotherOfHub = { 'disputed.answered_model': 'tiny', 'disputed.answered_catalogue_model': 'tiny' };
const delivered = {
  'disputed.output_status': 'committed',
  'disputed.output_by': 'service',
  'disputed.output_hash': 'c',
};
const job = {
  ...charged,
  'disputed.hub': 'svc',
  'disputed.output_status': 'committed',
  'disputed.output_by': 'winner',
  'disputed.job_id': 'job_1',
  'disputed.job_paid_at': '2026-11-03T12:00:00.000Z',
  'disputed.job_winner': 7,
  'disputed.job_price': '1500000',
  'disputed.job_fee': '17000',
  'disputed.job_fee_task_id': 'task_fee',
} as const satisfies Facts;
const challenged = { ...job, 'disputed.job_challenged_at': '2026-11-04T12:00:00.000Z' };

/** The same by the present rule, as far as it differs. */
const cases: Readonly<Record<DisputeReason, Case>> = {
  ...casesOfFirst,
  output_committed: ['output_missing', { ...charged, ...delivered }],
  already_refunded: ['wrong_model', { ...charged, 'disputed.refunded_by': 'dispute_1' }],
  answer_still_owed: ['output_missing', { ...uncommitted('no_output'), 'disputed.resend_until': later }],
  commitment_by_others: ['output_missing', { ...charged, ...delivered, 'disputed.output_by': 'reporter' }],
  arrival_unverified: ['output_missing', { ...charged, 'disputed.collected': false }],
  output_revealed: ['output_missing', { ...challenged, 'disputed.job_revealed_at': earlier }],
  output_not_revealed: ['output_missing', job],
  reveal_awaited: ['output_missing', { ...challenged, 'disputed.job_paid_at': '2026-11-03T12:00:00.001Z' }],
  output_never_revealed: ['output_missing', challenged],
  no_model_on_receipt: [
    'wrong_model',
    { ...charged, 'disputed.model': '', 'disputed.answered_on_resend': true },
    { request: { field, args }, salt },
  ],
  no_common_intent: ['double_charge', { ...before, 'other.intent_id': 'another' }, twice],
  other_charge_not_named: ['double_charge', { ...before, 'disputed.intent_shared': true }],
  other_refunded: ['double_charge', { ...before, 'other.refunded_by': 'dispute_1' }, twice],
  output_of_its_own: ['double_charge', { ...before, ...delivered }, twice],
  answered_as_requested: ['wrong_model', { ...charged, 'disputed.answered_model': 'beta-1-2024-08-06' }, asked],
  another_model_of_hub: [
    'wrong_model',
    { ...charged, 'disputed.answered_model': 'tiny', 'disputed.answered_catalogue_model': 'tiny' },
    asked,
  ],
  model_unclear: ['wrong_model', { ...charged, 'disputed.answered_model': 'tiny' }, asked],
};

describe('adjudicate', () => {
  it.each(Object.entries(cases))('%s', (reason, [claim_type, facts, evidence = {}]) => {
    const claim = { claim_type, task_id: 'second', evidence, ...now };
    const [outcome] = disputeReasons[reason as DisputeReason];
    expect(adjudicate(claim, readOf(facts))).toMatchObject({ reason, outcome });
  });

  it.each(Object.entries(casesOfFirst))('%s, by rules 1 and 2', (reason, [claim_type, facts, evidence = {}]) => {
    const [outcome] = disputeReasons[reason as DisputeReason];
    for (const rule_version of [1, 2]) {
      const claim = { claim_type, task_id: 'second', evidence, rule_version };
      expect(adjudicate(claim, readOf(facts))).toEqual({ reason, outcome, used: expect.any(Array) });
    }
  });

  it('says to each rule what it has signed, and to no rule a reason that it does not have', () => {
    const signed = [1, 2].map(version =>
      Object.fromEntries(
        Object.keys(casesOfFirst).map(reason => [reason, verdictWords(version, reason as FirstReason)]),
      ),
    );
    expect(signed.map(words => canonicalHash(words as JsonObject))).toEqual([WORDS_OF_FIRST, WORDS_OF_FIRST]);
    expect(verdictWords(2, 'answer_still_owed')).toBeNull();
    expect(verdictWords(3, 'model_unclear')).toBeNull();
    expect(verdictWords(5, 'charged_twice')).toBeNull();
    expect([1, 2, 3, 4, 5, '3', null].map(isKnownRule)).toEqual([true, true, true, true, false, false, false]);
  });

  it('denies no refund that stands: a verdict after it says what is owed by it, and which fact names its dispute', () => {
    const nothing_more = { already_refunded: 'disputed.refunded_by', other_refunded: 'other.refunded_by' } as const;
    for (const [reason, fact] of Object.entries(nothing_more)) {
      const [claim_type, facts, evidence = {}] = cases[reason as DisputeReason];
      const { used } = adjudicate({ claim_type, task_id: 'second', evidence, ...now }, readOf(facts));
      expect(used).toContain(fact);
      const means = verdictWords(DISPUTE_RULE_VERSION, reason as DisputeReason)?.means;
      expect(means).toContain(fact);
      expect(means).not.toContain('owes nothing back.');
    }
    expect(verdictWords(DISPUTE_RULE_VERSION, 'output_committed')?.means).toContain('owes nothing back.');
  });

  it('output_missing: no refund while the payment may bring the answer, and one from that very moment on', () => {
    const claim = { claim_type: 'output_missing', task_id: 'second', evidence: {}, ...now } as const;
    const until = (time: string) => readOf({ ...uncommitted('process_ended'), 'disputed.resend_until': time });
    expect(adjudicate(claim, until(later))).toMatchObject({ reason: 'answer_still_owed', decides_after: later });
    for (const time of [judged_at, earlier])
      expect(adjudicate(claim, until(time))).toMatchObject({
        reason: 'output_not_kept',
        outcome: 'refund',
        owed_back: { task_id: 'second', amount: '2000' },
      });
    expect(adjudicate(claim, until('never'))).toMatchObject({ outcome: null });
  });

  it('a job that was paid in vain: its fee is owed back, and its price by the winner', () => {
    const claim = { claim_type: 'output_missing', task_id: 'second', evidence: {}, ...now } as const;
    expect(adjudicate(claim, readOf(challenged))).toMatchObject({
      outcome: 'refund',
      owed_back: { task_id: 'task_fee', amount: '17000' },
      owed_by_winner: { agent_id: 7, amount: '1500000' },
    });
    const awaited = { ...challenged, 'disputed.job_paid_at': '2026-11-09T00:00:00.000Z' };
    expect(adjudicate(claim, readOf(awaited))).toMatchObject({ decides_after: '2026-11-16T00:00:00.000Z' });
    // On the winner's own book nothing was charged.
    expect(adjudicate(claim, readOf({ ...challenged, 'disputed.amount': null }))).toMatchObject({
      reason: 'nothing_charged',
    });
    expect(adjudicate(claim, readOf({ ...challenged, 'disputed.job_id': null }))).toMatchObject({
      reason: 'commitment_by_others',
      outcome: null,
    });
  });

  it('double_charge: of a charge that brought nothing, or the very output of the charge before it, and of no other', () => {
    const claim = { claim_type: 'double_charge', task_id: 'second', evidence: twice, ...now } as const;
    const very = { ...before, ...delivered, 'other.output_status': 'committed', 'other.output_hash': 'c' };
    for (const facts of [before, very, { ...very, 'other.output_by': 'service' }])
      expect(adjudicate(claim, readOf(facts))).toMatchObject({ outcome: 'refund', standing_task_id: 'first' });
    for (const own of [
      { ...very, 'other.output_hash': 'd' },
      { ...very, 'other.output_status': 'UNVERIFIED' },
      { ...very, 'disputed.output_hash': null, 'other.output_hash': null },
      { ...before, 'disputed.answered_on_resend': true },
    ])
      expect(adjudicate(claim, readOf(own))).toMatchObject({ reason: 'output_of_its_own' });
    const owed = { ...before, 'disputed.resend_until': later };
    expect(adjudicate(claim, readOf(owed))).toMatchObject({ reason: 'answer_still_owed', outcome: null });
  });

  it('double_charge without the other row: decided where no other charge could be meant', () => {
    const claim = { claim_type: 'double_charge', task_id: 'second', evidence: {}, ...now } as const;
    const shared = (intent_shared: boolean) => readOf({ ...charged, 'disputed.intent_shared': intent_shared });
    expect(adjudicate(claim, shared(true))).toMatchObject({ reason: 'other_charge_not_named', outcome: null });
    expect(adjudicate(claim, shared(false))).toMatchObject({ reason: 'no_common_intent', outcome: 'stand' });
    expect(adjudicate(claim, readOf({ ...charged, 'disputed.intent_id': null }))).toMatchObject({
      reason: 'no_common_intent',
    });
  });

  it('wrong_model: by requested_model, which the first rules never read', () => {
    const claim = { claim_type: 'wrong_model', task_id: 'second', evidence: { requested_model: 'beta-1' } } as const;
    expect(adjudicate({ ...claim, ...now }, readOf(charged))).toMatchObject({ reason: 'model_as_requested' });
    expect(adjudicate({ ...claim, rule_version: 2 }, readOf(charged))).toMatchObject({
      reason: 'requested_model_not_named',
    });
  });

  it.each<[string, Facts, JsonObject, string]>([
    ['the very model', { 'disputed.answered_model': 'beta-1' }, asked, 'model_as_requested'],
    ['none', {}, asked, 'model_as_requested'],
    ['none, of svc/auto', {}, { model: 'svc/auto' }, 'model_delegated'],
    ['the chosen one, of svc/auto', { 'disputed.answered_model': 'beta-1' }, { model: 'svc/auto' }, 'model_delegated'],
    [
      'a version of the chosen one, of svc/auto',
      { 'disputed.answered_model': 'beta-1-0613' },
      { model: 'svc/auto' },
      'answered_as_requested',
    ],
    [
      'another one than was chosen, of svc/auto',
      { 'disputed.answered_model': 'tiny', 'disputed.answered_catalogue_model': 'tiny' },
      { model: 'svc/auto' },
      'another_model_of_hub',
    ],
    [
      'an alias',
      { 'disputed.answered_model': 'b1', 'disputed.answered_catalogue_model': 'beta-1' },
      asked,
      'answered_as_requested',
    ],
    [
      'a version, which is an id of the catalogue too',
      { 'disputed.answered_model': 'beta-1-001', 'disputed.answered_catalogue_model': 'beta-1-001' },
      asked,
      'answered_as_requested',
    ],
    [
      'what was requested, of a receipt that names another one',
      { 'disputed.model': 'other', 'disputed.answered_model': 'beta-1' },
      asked,
      'answered_as_requested',
    ],
    [
      'a third one, and the request is proven to name another one than the receipt',
      { 'disputed.model': 'other', 'disputed.answered_model': 'other' },
      { request: { field, args }, salt },
      'another_model_answered',
    ],
    [
      'of a router id the same without router/',
      { 'disputed.hub': 'router', 'disputed.model': 'router/a/b', 'disputed.answered_model': 'a/b' },
      { model: 'router/a/b' },
      'answered_as_requested',
    ],
    [
      'its own name at a resend, after the broken attempt had named another one',
      { ...anotherOfHub, 'disputed.resend_model': 'beta-1', 'disputed.resend_answered_model': 'beta-1' },
      asked,
      'model_as_requested',
    ],
    [
      'another one at a resend, which the broken attempt had not',
      {
        'disputed.answered_model': 'beta-1',
        'disputed.resend_model': 'beta-1',
        'disputed.resend_answered_model': 'tiny',
        'disputed.resend_answered_catalogue_model': 'tiny',
      },
      asked,
      'another_model_of_hub',
    ],
    [
      'none at a resend, after the broken attempt had named another one',
      { ...anotherOfHub, 'disputed.resend_model': 'beta-1' },
      asked,
      'model_as_requested',
    ],
    [
      'another one at a resend, of a receipt without a model',
      { 'disputed.model': '', 'disputed.resend_model': 'beta-1', 'disputed.resend_answered_model': 'tiny' },
      asked,
      'model_unclear',
    ],
    [
      'another one in the broken attempt, and the resend is not recorded with its model',
      { ...anotherOfHub, 'disputed.answered_on_resend': true },
      asked,
      'another_model_of_hub',
    ],
  ])('wrong_model by what the hub named: %s', (_, facts, evidence, reason) => {
    const claim = { claim_type: 'wrong_model', task_id: 'second', evidence, ...now } as const;
    const { used, ...found } = adjudicate(claim, readOf({ ...charged, ...facts }));
    expect(found).toMatchObject({ reason, outcome: disputeReasons[reason as DisputeReason][0] });
    // By the rule of before nothing that the hub names is looked at.
    const before_it = adjudicate({ ...claim, rule_version: 3 }, readOf({ ...charged, ...facts }));
    expect(before_it.used.filter(name => name.includes('answered_') && !name.includes('resend'))).toEqual([]);
    expect(used.some(name => name === 'disputed.answered_model' || name === 'disputed.resend_answered_model')).toBe(
      true,
    );
  });

  it('wrong_model: a refund names the charge that is owed back, and waits while its payment may bring the answer', () => {
    const claim = { claim_type: 'wrong_model', task_id: 'second', evidence: asked, ...now } as const;
    const facts = { ...charged, 'disputed.answered_model': 'tiny', 'disputed.answered_catalogue_model': 'tiny' };
    expect(adjudicate(claim, readOf(facts))).toMatchObject({ owed_back: { task_id: 'second', amount: '2000' } });
    expect(adjudicate(claim, readOf({ ...facts, 'disputed.resend_until': later }))).toMatchObject({
      outcome: null,
      reason: 'answer_still_owed',
    });
  });

  it('wrong_model: no refund by a receipt that names no model, whatever the evidence shows', () => {
    const shown: readonly JsonObject[] = [{ request: { field, args }, salt }, { model: 'beta-1' }, { model: '' }, {}];
    for (const evidence of shown)
      for (const model of ['', null]) {
        const claim = { claim_type: 'wrong_model', task_id: 'second', evidence, ...now } as const;
        const found = adjudicate(claim, readOf({ ...charged, 'disputed.model': model }));
        expect(found).toMatchObject({ outcome: 'stand', reason: 'no_model_on_receipt' });
      }
  });

  it('open as long as the other charge is, and a stamp has no output whatever its receipt says', () => {
    const claim = { claim_type: 'double_charge', task_id: 'second', evidence: twice, ...now } as const;
    const pending = { ...before, 'other.evidence': 'RECORDED_BY_SETTLE' };
    expect(adjudicate(claim, readOf(pending))).toMatchObject({ outcome: null, reason: 'arrival_pending' });
    const stamped = { ...uncommitted('no_output'), 'disputed.hub': 'svc' };
    const missing = { claim_type: 'output_missing', task_id: 'second', evidence: {}, ...now } as const;
    expect(adjudicate(missing, readOf(stamped))).toMatchObject({ reason: 'no_output_sold' });
  });

  it('a request that was proven is judged, whatever model is said beside it', () => {
    const evidence = { model: 'alpha-1', request: { field, args }, salt };
    const claim = { claim_type: 'wrong_model', task_id: 'second', evidence, ...now } as const;
    expect(adjudicate(claim, readOf(charged))).toMatchObject({ reason: 'model_as_requested' });
    const without = { field, args: { prompt: 'Hi' } };
    const hash = bound(without.args, salt);
    const unnamed = { ...claim, evidence: { model: 'alpha-1', request: without, salt } };
    expect(adjudicate(unnamed, readOf({ ...charged, 'disputed.request_hash': hash }))).toMatchObject({
      reason: 'request_not_proven',
    });
  });
});

const text = fc.oneof(
  fc.constantFrom('svc', later, earlier, 'winner', 'committed', 'process_ended', '', 'bill', ...wordList(evidences)),
  fc.string(),
);
const value = fc.oneof(fc.constantFrom<Json>(null, true, false, 0, 1), text, fc.jsonValue() as fc.Arbitrary<Json>);
const anyFacts = fc.dictionary(fc.constantFrom(...factNames), value) as fc.Arbitrary<Facts>;
const anyEvidence = fc.oneof(
  fc.dictionary(fc.constantFrom('model', 'requested_model', 'task_id', 'request', 'salt', 'other_salt', 'x'), value),
  fc.constant(twice),
) as fc.Arbitrary<JsonObject>;
const anyClaim = fc.record({
  claim_type: fc.constantFrom(...wordList(claimTypes)),
  task_id: text,
  evidence: anyEvidence,
  judged_at: fc.constantFrom(judged_at, earlier, ''),
  rule_version: fc.constantFrom(1, 2, 3, 4),
});

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

  it('owes nothing back of what was refunded before, and nothing while an answer may come, by the present rule', () => {
    fc.assert(
      fc.property(anyClaim, anyFacts, fc.boolean(), (claim, facts, refunded) => {
        const known = refunded ? { 'disputed.refunded_by': 'dispute_1' } : { 'disputed.resend_until': later };
        const { outcome } = adjudicate({ ...claim, ...now }, readOf({ ...facts, ...known }));
        expect(outcome).not.toBe('refund');
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
        const one = adjudicate(
          { claim_type: 'double_charge', task_id: 'second', evidence: twice, ...now },
          readOf(known),
        );
        const turned = { ...twice, task_id: 'second', salt: other_salt, other_salt: salt };
        const two = adjudicate(
          { claim_type: 'double_charge', task_id: 'first', evidence: turned, ...now },
          readOf(swapped),
        );
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
    ...now,
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
