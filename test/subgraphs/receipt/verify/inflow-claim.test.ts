import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../../../schema/canonical-json.ts';
import { signedInflow, type UnsignedInflow } from '../../../../subgraphs/book/inflow/sign.ts';
import { verifyInflowClaim } from '../../../../subgraphs/receipt/verify/inflow-claim.ts';
import { signedBy } from '../../../harness/doors/inflows.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';

const account = privateKeyToAccount(`0x${'42'.repeat(32)}`);
const signing = { issuer, clock: { now_ms: () => 1_760_000_000_000 }, profile: 'production' } as const;
const said = { agent_id: 7, bucket: 'patron', allocation: '100' };
const unsigned: UnsignedInflow = { ...said, task_id: 'task_1', model: 'small-1', hub: undefined, wallet_word: null };
const jwks = issuer.jwks;

/** Signs any content with the issuer's key. */
function signedAnyhow(members: JsonObject): JsonObject {
  const { signature: _, ...claim } = { ...signedInflow(signing, unsigned), ...members };
  const value = issuer.signCanonical(canonicalJson(claim));
  return { ...claim, signature: { alg: 'ES256', kid: issuer.kid, value } };
}

async function withWallet(members: JsonObject = {}, kind: 'inflow' | 'correction' = 'inflow') {
  const wallet_claim = await signedBy(account, kind, {
    iss: issuer.base_url,
    ...said,
    signed_at: '2026-03-01T10:30:00Z',
    ...members,
  });
  return { wallet: account.address, wallet_claim };
}

describe('verifyInflowClaim', () => {
  it('a claim is valid as it was signed, and says what it leaves open', () => {
    expect(verifyInflowClaim(signedInflow(signing, unsigned), jwks)).toMatchObject({
      kind: 'valid',
      claims: { schema: 'svc402.inflow_claim.v1', iss: issuer.base_url, ...said, model: 'small-1' },
      report: { unchecked: [expect.stringContaining('without a payment'), expect.stringContaining('corrected')] },
    });
  });

  it('whatever member is altered, added or left out, it is not', () => {
    const claim = signedInflow(signing, unsigned);
    const names = Object.keys(claim).filter(name => name !== 'signature');
    const altered = fc.oneof(
      fc.tuple(fc.constantFrom(...names), fc.jsonValue()).filter(([name, value]) => claim[name] !== value),
      fc.tuple(
        fc.string().filter(name => !(name in claim)),
        fc.jsonValue(),
      ),
    );
    fc.assert(
      fc.property(altered, ([name, value]) => {
        const other = Object.fromEntries([...Object.entries(claim), [name, value as JsonObject]]);
        expect(verifyInflowClaim(other, jwks).kind).toBe('invalid');
      }),
    );
    for (const name of [...names, 'signature']) {
      const { [name]: _, ...rest } = claim;
      expect(verifyInflowClaim(rest, jwks).kind).toBe('invalid');
    }
  });

  it.each<[string, JsonObject]>([
    ['not_an_inflow_claim', { payment_ref: 'base:0x01' }],
    ['wallet_claim_differs', { wallet_claim: { iss: 'https://another.example' } }],
    ['not_an_inflow_claim', { payment: {} }],
    ['not_an_inflow_claim', { schema: 'svc402.refusal.v1' }],
    ['not_an_inflow_claim', { allocation: '-1' }],
    ['link_foreign', { verify_jwks: 'https://elsewhere.example/jwks.json' }],
    ['wallet_claim_differs', { wallet_claim: 'signed' }],
    ['wallet_claim_differs', { wallet_claim: { bucket: 'another' } }],
    ['wallet_claim_differs', { wallet_claim: { task_id: 'another' } }],
    ['wallet_claim_differs', { corrects: 'task_0', wallet_claim: { task_id: 'task_1' } }],
  ])('%s, though the issuer signed %j', (code, members) => {
    expect(verifyInflowClaim(signedAnyhow(members), jwks)).toMatchObject({ kind: 'invalid', code });
  });

  it("is checked down to the wallet's key; of a contract it says whom to ask", async () => {
    const namesErc1271 = (claim: JsonObject) => JSON.stringify(verifyInflowClaim(claim, jwks)).includes('ERC-1271');
    const claim = signedInflow(signing, { ...unsigned, wallet_word: await withWallet() });
    expect(verifyInflowClaim(claim, jwks).kind).toBe('valid');
    expect(namesErc1271(claim)).toBe(false);
    const correction = await withWallet({ task_id: 'task_0', reason: 'a typo' }, 'correction');
    expect(namesErc1271(signedAnyhow({ corrects: 'task_0', reason: 'a typo', ...correction }))).toBe(false);
    const { wallet_claim } = await withWallet();
    expect(namesErc1271(signedAnyhow({ wallet: `0x${'11'.repeat(20)}`, wallet_claim }))).toBe(true);
    expect(
      namesErc1271(signedAnyhow({ wallet: account.address, wallet_claim: { ...wallet_claim, signature: '0x00' } })),
    ).toBe(true);
  });
});
