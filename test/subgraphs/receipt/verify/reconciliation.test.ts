import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type JsonObject } from '../../../../schema/canonical-json.ts';
import { sumsAsJson } from '../../../../schema/reconciliation.ts';
import { type ClassSums, noSums, sumClasses, type TransferClass } from '../../../../schema/reconciliation-rule.ts';
import { signedReconciliation } from '../../../../subgraphs/book/reconciliation/document.ts';
import { StoredReconciliation } from '../../../../subgraphs/book/reconciliation/reconciliation.entity.ts';
import { asEntity } from '../../../../subgraphs/columns.ts';
import { documentIn, kindOf, verifyDocument } from '../../../../subgraphs/receipt/verify/document.ts';
import { verifyReconciliation } from '../../../../subgraphs/receipt/verify/reconciliation.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';

const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const ELSE = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const hash = (of: number) => `0x${of.toString(16).padStart(64, '0')}`;

const used = { receipted: { by: 'receipt', book: 'own' }, ingested: { by: 'ingest', book: 'another' } } as const;

function entry(of: TransferClass, at: number, amount: bigint): JsonObject {
  const by: JsonObject = of === 'receipted' || of === 'ingested' ? { used: used[of] } : {};
  const payee = of === 'self_dealt' ? WALLET : ELSE;
  return {
    block_number: 100 + at,
    log_index: at % 3,
    tx_hash: hash(at),
    payee,
    amount: amount.toString(),
    class: of,
    ...by,
  };
}

const classes: readonly TransferClass[] = ['receipted', 'ingested', 'unreceipted', 'self_dealt'];
const sumsOf = (entries: readonly JsonObject[]): ClassSums =>
  sumClasses(
    noSums,
    entries.map(({ class: of, amount }) => ({
      class: of as TransferClass,
      transfer: { amount: BigInt(String(amount)) },
    })),
  );

function stored(all: readonly JsonObject[]): StoredReconciliation {
  return asEntity(StoredReconciliation, {
    reportId: 'reconciliation_1',
    agentId: 7,
    wallet: WALLET,
    agentWallet: WALLET,
    provenBy: 'agent_wallet',
    fromBlock: 90,
    toBlock: 5_000,
    state: 'running',
    reason: null,
    nextBlock: 5_001,
    pageBlocks: 1,
    fromHash: hash(1),
    toHash: hash(2),
    logSize: 3,
    transfers: all.length,
    sums: sumsAsJson(sumsOf(all)),
    askedAt: new Date(0),
    movedAt: new Date(0),
    endedAt: null,
    document: null,
  });
}

function signed(all: readonly JsonObject[], listed = all): JsonObject {
  const reported = { report: stored(all), entries: listed, final: true, now_ms: 1_760_000_000_000 };
  return JSON.parse(signedReconciliation({ issuer, profile: 'production' }, reported)) as JsonObject;
}

/** The document with changed members, signed again as a lying issuer would. */
function resigned(document: JsonObject, changed: JsonObject): JsonObject {
  const { signature: _, ...claims } = { ...document, ...changed };
  const value = issuer.signCanonical(canonicalJson(claims));
  return { ...claims, signature: { alg: 'ES256', kid: issuer.kid, value } };
}

const verify = (document: JsonObject) => verifyReconciliation(document, issuer.jwks);
const four = classes.map((of, at) => entry(of, at, BigInt(10 ** at)));

describe('a signed reconciliation', () => {
  it('is valid, whatever it lists, whole or truncated; and is known for what it is also inside an answer', () => {
    const transfers = fc
      .array(fc.tuple(fc.constantFrom(...classes), fc.bigInt({ min: 0n, max: 2n ** 80n })), { maxLength: 12 })
      .map(each => each.map(([of, amount], at) => entry(of, at, amount)));
    fc.assert(
      fc.property(transfers, fc.nat(12), (all, listed) => {
        const document = signed(all, all.slice(0, listed));
        expect(verify(document)).toMatchObject({ kind: 'valid' });
        expect(document.truncated).toBe(listed < all.length);
      }),
    );
    const document = signed(four);
    expect([kindOf(document), documentIn({ state: 'done', report: document })]).toEqual(['reconciliation', document]);
    expect(verifyDocument(document, issuer.jwks)).toMatchObject({ kind: 'valid' });
  });

  it('is not valid with any of its members altered, left out or added', () => {
    const document = signed(four);
    for (const name of Object.keys(document)) {
      const { [name]: _, ...less } = document;
      for (const altered of [
        less,
        { ...document, [name]: 'another' },
        { ...document, [name]: [document[name] ?? null] },
      ])
        expect(verify(altered).kind, name).toBe('invalid');
    }
    expect(verify({ ...document, more: 1 })).toMatchObject({ kind: 'invalid', code: 'signature_invalid' });
  });

  it.each<[string, JsonObject, string]>([
    ['of another kind', { schema: 'svc402.dispute_verdict.v1' }, 'not_a_reconciliation'],
    ['of another chain', { chain: 'eip155:1' }, 'not_a_reconciliation'],
    ['of another token', { asset: ELSE }, 'not_a_reconciliation'],
    ['of another rule', { rule_version: 2 }, 'rule_unknown'],
    ['out of order', { transfers: four.toReversed() }, 'order_broken'],
    ['with one twice', { transfers: [four[0], ...four] as JsonObject[] }, 'order_broken'],
    ['with one outside of its blocks', { to_block: 102 }, 'order_broken'],
    ['that ends before it begins', { from_block: 6_000, transfers: [] }, 'order_broken'],
    ['without its own wallet', { own_wallets: [] }, 'class_does_not_follow'],
    ['that calls its own another', { own_wallets: [WALLET, ELSE] }, 'class_does_not_follow'],
    [
      'that calls unreceipted what has a receipt',
      { transfers: [{ ...four[0], class: 'unreceipted' }, ...four.slice(1)] },
      'class_does_not_follow',
    ],
    ['of other sums', { sums: sumsAsJson(noSums) }, 'sums_do_not_follow'],
    ['that leaves one out', { transfers: four.slice(1) }, 'sums_do_not_follow'],
    ['that says to leave out and does not', { truncated: true }, 'sums_do_not_follow'],
    [
      'whose sums are less than what it lists',
      { truncated: true, transfers_total: 9, sums: { ...sumsAsJson(noSums), receipted: { count: 9, amount: '1' } } },
      'sums_do_not_follow',
    ],
  ])('is not valid %s, though it is signed', (_, changed, code) => {
    expect(verify(resigned(signed(four), changed))).toMatchObject({ kind: 'invalid', code });
  });
});
