import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { refusalId } from '../../../schema/ids.ts';
import type { BaseAnchor } from '../../../schema/refusal.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { refusalById, refusalDocument } from '../../../subgraphs/receipt/refusal/find.ts';
import { issueRefusals, type RefusalFacts } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import { verifyRefusal } from '../../../subgraphs/receipt/verify/refusal.ts';
import { freshStore } from '../../harness/store.ts';

const BASE_URL = 'https://svc.test';
const issuer = openIssuer(['22'.repeat(32), '11'.repeat(32)], { base_url: BASE_URL, now_ms: () => 0 });
const AT_MS = Date.UTC(2026, 2, 1, 10, 30);

let database: Database;
let number = 0;
beforeAll(async () => {
  database = await freshStore();
});

async function issued(anchor: BaseAnchor): Promise<JsonObject> {
  number++;
  const call: RefusalFacts = {
    refusal_id: refusalId(AT_MS, systemRandom.bytes(10)),
    task_id: `task_${number}`,
    agent_id: 7,
    book_seq: number,
    refusal_code: 'policy_blocked',
    policy_code: 'daily_cap_exceeded',
    requested_atomic: 2000n,
    at_ms: AT_MS,
  };
  const refuser = { issuer, random: systemRandom, profile: 'production', anchor: () => anchor } as const;
  await database.transaction(async tx => issueRefusals(tx, refuser, [call]));
  const refusal = await refusalById(database, call.refusal_id);
  if (!refusal) throw new Error('it was not written');
  return refusalDocument(refusal, BASE_URL);
}

describe('a signed refusal', () => {
  it('says all that the specification names, and no more of the book', async () => {
    const document = await issued({ status: 'UNAVAILABLE' });
    expect(document).toEqual({
      schema: 'svc402.refusal.v1',
      refusal_id: expect.stringMatching(/^refusal_[0-9a-z]{26}$/),
      chain_id: 8453,
      base_anchor: { status: 'UNAVAILABLE' },
      refusal_code: 'policy_blocked',
      policy_code: 'daily_cap_exceeded',
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
      timestamp: '2026-03-01T10:30:00.000Z',
      agent_id: 7,
      book_id: 7,
      task_id: 'task_1',
      requested_amount: '2000',
      policy_blocked_seq: number,
      charged: false,
      refusal_url: `${BASE_URL}/refusal/${document.refusal_id}`,
      issuer_signature: { jws: expect.any(String), kid: issuer.kid, value: expect.any(String), alg: 'ES256' },
      verification: expect.objectContaining({ jwks_uri: `${BASE_URL}/.well-known/jwks.json` }),
    });
  });

  it.each([
    { status: 'UNAVAILABLE' },
    { status: 'AVAILABLE', block_number: 7, block_hash: '0xab' },
    { status: 'AVAILABLE', block_number: 7, block_hash: '0xab', state_root: '0xcd' },
  ] as const)('verifies by the published keys, anchored at %j', async anchor => {
    const document = await issued(anchor);
    expect(verifyRefusal(document, issuer.jwks)).toMatchObject({ kind: 'valid', claims: { base_anchor: anchor } });
    const strangers = openIssuer(['33'.repeat(32)], { base_url: BASE_URL, now_ms: () => 0 }).jwks;
    expect(verifyRefusal(document, strangers)).toMatchObject({ kind: 'invalid', code: 'signature_invalid' });
  });

  it('does not verify with any member changed or left out', async () => {
    const document = await issued({ status: 'AVAILABLE', block_number: 7, block_hash: '0xab' });
    const { issuer_signature: _s, verification: _v, refusal_url: _u, ...signed } = document;
    for (const name of Object.keys(signed)) {
      const { [name]: _, ...without } = document;
      expect(verifyRefusal(without, issuer.jwks).kind).toBe('invalid');
      expect(verifyRefusal({ ...document, [name]: 'other' }, issuer.jwks).kind).toBe('invalid');
    }
  });
});
