import { describe, expect, it } from 'vitest';
import { canonicalHash, type Json, type JsonObject } from '../../schema/canonical-json.ts';
import {
  attributeTo,
  commitmentMaker,
  commitTo,
  noCommitment,
  type OutputToCommit,
  outputCommitmentOf,
} from '../../schema/output-commitment.ts';
import { receiptFacts } from '../../subgraphs/book/escrow/checks.ts';

const HASH = 'b'.repeat(64);
const { by: _, ...before } = outputCommitmentOf('service', HASH);
const payloadOf = (output_commitment: JsonObject, members: JsonObject = {}): JsonObject => ({
  payload_version: 11,
  hub: 'north',
  fulfillment: { output_commitment },
  ...members,
});

describe('commitmentMaker', () => {
  it.each<[string, JsonObject, string | null]>([
    ['the service, as it says', payloadOf(outputCommitmentOf('service', HASH)), 'service'],
    ['the winner of a job, as it says', payloadOf(outputCommitmentOf('winner', HASH), { hub: 'svc' }), 'winner'],
    ['a reporter, as it says', payloadOf(outputCommitmentOf('reporter', HASH)), 'reporter'],
    ['nobody, where nothing is committed to', payloadOf(noCommitment('no_output')), null],
    ['nobody, where it says nothing of an output', { hub: 'north' }, null],
    ['never the service, under a word that is not known', payloadOf({ ...before, by: 'somebody' }), 'reporter'],
    // Under receipt policies 1 to 7.
    ['the service, of an answer before that was said', payloadOf(before), 'service'],
    ['the winner, of a job before that was said', payloadOf(before, { hub: 'svc' }), 'winner'],
    ['a reporter, of an ingest before that was said', payloadOf(before, { payload_version: 4 }), 'reporter'],
    ['a reporter, of what was reported before that was said', payloadOf(before, { reported: {} }), 'reporter'],
  ])('%s', (_name, payload, maker) => {
    expect(commitmentMaker(payload)).toBe(maker);
  });
});

describe('commitTo', () => {
  it.each<[string, OutputToCommit, readonly string[]]>([
    [
      'an object: the names of its members, sorted',
      { output: { role: 'assistant', content: null } },
      ['content', 'role'],
    ],
    ['a list: the member of the answer that it is', { output: [{ index: 0 }], output_member: 'choices' }, ['choices']],
  ])('covers of %s', (_, committed, output_covers) => {
    expect(commitTo(committed)).toEqual({ output_sha256: canonicalHash(committed.output as Json), output_covers });
  });

  it('says nothing of what nobody here has seen', () => {
    expect(outputCommitmentOf('winner', HASH)).not.toHaveProperty('covers');
    expect(outputCommitmentOf('service', HASH, ['data'])).toMatchObject({ covers: ['data'], by: 'service' });
  });
});

describe('what a requester says of an output', () => {
  it('is attributed to them where it commits to something', () => {
    expect(attributeTo('reporter', { ...before, status: 'committed', kind: 'sha256' })).toEqual(
      outputCommitmentOf('reporter', HASH),
    );
    expect(attributeTo('reporter', noCommitment('no_deliverable'))).toEqual(noCommitment('no_deliverable'));
  });
});

describe('the proof tier of a receipt', () => {
  it.each([
    ['service', 'inference'],
    ['winner', 'settlement'],
    ['reporter', 'settlement'],
  ] as const)('of a commitment by %s is %s', (by, tier) => {
    const payload = JSON.stringify(payloadOf(outputCommitmentOf(by, HASH)));
    expect(receiptFacts({ payload, proofOutcome: 'settled', model: 'small-1' })).toEqual({
      commitment: `sha256:${HASH}`,
      tier,
    });
  });
});
