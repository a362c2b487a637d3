import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { canonicalJson, isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../../schema/digest.ts';
import { SparseMap } from '../../../../subgraphs/receipt/totals/sparse-map.ts';
import { appendSum, type GrowingSum } from '../../../../subgraphs/receipt/totals/stored-sums.ts';
import {
  mapLeaf,
  paymentKey,
  paymentValue,
  type RailSum,
  totalKey,
  totalValue,
} from '../../../../subgraphs/receipt/verify/map-proof.ts';
import { leafHash } from '../../../../subgraphs/receipt/verify/merkle-proof.ts';
import { sumLeaf, sumRoot } from '../../../../subgraphs/receipt/verify/sum-proof.ts';
import { verifyTotals } from '../../../../subgraphs/receipt/verify/totals.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';
import { alter, otherIssuer, paths } from '../../../harness/receipt/issue.ts';
import { openTotals, paidCallOf, replaceStatement } from '../../../harness/receipt/totals.ts';
import { atEnd } from '../../../harness/release.ts';

/* Wrong totals that the service itself has signed: each total and payment is built as a forger would build it, and signed by the issuer. */

interface Row extends JsonObject {
  readonly leaf_index: number;
  readonly leaf_hash: string;
  readonly preimage: string;
  readonly amount: string;
  readonly row: number;
}
type Rail = RailSum & JsonObject;
interface Total extends JsonObject {
  readonly rails: readonly [Rail, ...Rail[]];
  readonly row: Row;
}
interface Paid extends JsonObject {
  readonly payment: { readonly network: string; readonly payment_ref: string; readonly transfer_index: number };
  readonly leaf_index: number;
  readonly leaf_hash: string;
  readonly preimage: string;
}

let total: Total;
let neighbour: Total;
let elsewhere: Total;
let paid: Paid;
let other: Paid;
beforeAll(async () => {
  const totals = await openTotals();
  atEnd(() => totals.database.close());
  const amounts = [5n, 7n, 11n, 13n, 17n];
  const calls = amounts.map((amount, index) => paidCallOf(index, index === 3 ? 2 : 1, amount));
  await totals.database.issueCalls(issuer, calls);
  await totals.integrateAll();
  total = (await totals.total(1, 'task_1')) as Total;
  neighbour = (await totals.total(1, 'task_2')) as Total;
  elsewhere = (await totals.total(2, 'task_3')) as Total;
  paid = (await totals.payment('task_1')) as Paid;
  other = (await totals.payment('task_2')) as Paid;
});

function sign(claims: JsonObject): JsonObject {
  const signature = { alg: 'ES256', kid: issuer.kid, value: issuer.signCanonical(canonicalJson(claims)) };
  return { ...claims, signature };
}

const codeOf = (document: JsonObject, jwks = issuer.jwks) => {
  const said = verifyTotals(document, jwks);
  return said.kind === 'valid' ? 'valid' : said.code;
};

/** The document with this total of its book, and a statement that the issuer signed over it. */
function statedAs(document: Total, rail: RailSum, agent_id = 1): JsonObject {
  const map = new SparseMap();
  map.set(totalKey(agent_id, rail.rail), totalValue(agent_id, rail));
  map.store();
  const proof = map.prove(totalKey(agent_id, rail.rail));
  const shown = { ...document, agent_id, rails: [{ ...rail, siblings: [...proof.siblings] }] };
  return replaceStatement(shown as JsonObject, { books_root: map.root }, sign);
}

const railOf = ({ rails: [{ rail, rows, total: sum, root }] }: Total): RailSum => ({ rail, rows, total: sum, root });

/** The sum of the rows that a service claims to have. */
function treeOf(rows: readonly Row[]): RailSum {
  let sums: GrowingSum = { rows: 0, peaks: [] };
  for (const [row, { leaf_index, preimage, amount }] of rows.entries()) {
    const payload_hash = sha256Hex(preimage);
    const leaf = { agent_id: 1, rail: 'usdc', row, leaf_index, payload_hash, amount: atomicAmount(BigInt(amount)) };
    sums = appendSum(sums, sumLeaf(leaf)).sums;
  }
  const { sum, hash } = sumRoot(sums.peaks);
  return { rail: 'usdc', rows: rows.length, total: sum.toString(), root: hash.toString('hex') };
}

describe('a book’s total', () => {
  it('is valid as the service made it, and says what it leaves open', () => {
    expect(railOf(total)).toMatchObject({ rows: 4, total: '40' });
    for (const document of [total, neighbour, elsewhere, total.statement as JsonObject])
      expect(codeOf(document)).toBe('valid');
    expect(verifyTotals(total, issuer.jwks)).toMatchObject({
      report: {
        unchecked: [
          expect.stringContaining('every row'),
          expect.stringContaining('each receipt is counted once'),
          expect.anything(),
        ],
      },
    });
  });

  it('is found out where it is overstated, whether its root follows or not', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), more => {
        const overstated = { ...railOf(total), total: (40n + more).toString() };
        expect(codeOf(alter(total, ['rails', '0', 'total'], () => overstated.total) as JsonObject)).toBe(
          'total_not_stated',
        );
        // The total is signed, but the path of the row leads to another sum.
        expect(codeOf(statedAs(total, overstated))).toBe('row_not_in_total');
        // The row counts for more than its receipt signs.
        const row = { ...total.row, amount: (7n + more).toString() };
        expect(codeOf(statedAs({ ...total, row }, treeOf([row])))).toBe('row_amount_differs');
      }),
      { numRuns: 20 },
    );
  });

  it('is found out by whoever holds a row that was left out, or that another was put in the place of', () => {
    expect(codeOf(statedAs(total, treeOf([neighbour.row])))).toBe('row_not_in_total');
    expect(codeOf(statedAs(total, treeOf([])))).toBe('total_not_stated');
    expect(codeOf(statedAs(total, treeOf([neighbour.row, neighbour.row])))).toBe('row_not_in_total');
  });

  it.each(['-7', '1e3', '07', '', (1n << 256n).toString()])('is found out by a sum of "%s" on the way', sum => {
    const path = alter(total, ['row', 'path', '0', 'sum'], () => sum) as JsonObject;
    expect(codeOf(path)).toBe('sum_out_of_range');
  });

  it('is not one that wraps', () => {
    const most = ((1n << 256n) - 1n).toString();
    expect(codeOf(alter(total, ['row', 'path', '0', 'sum'], () => most) as JsonObject)).toBe('malformed');
  });

  it('is proven by no row of another book, and by no total of one', () => {
    expect(codeOf({ ...total, row: elsewhere.row })).toBe('row_of_another_book');
    expect(codeOf({ ...total, rails: elsewhere.rails })).toBe('total_not_stated');
    expect(codeOf({ ...total, agent_id: 2 })).toBe('total_not_stated');
    expect(codeOf(statedAs(elsewhere, railOf(elsewhere), 1))).toBe('row_of_another_book');
  });

  it('is none of a book that has one', () => {
    const nothing = treeOf([]);
    const { siblings } = total.rails[0];
    expect(codeOf({ ...total, row: undefined, rails: [{ ...nothing, siblings }] } as never)).toBe('total_not_stated');
    expect(codeOf({ ...total, row: undefined, rails: [{ ...nothing, siblings: [] }] } as never)).toBe(
      'total_not_stated',
    );
  });

  it('is one total at least, and nothing has one form', () => {
    expect(codeOf({ ...total, row: undefined, rails: [] } as never)).toBe('malformed');
    const empty = { ...treeOf([]), siblings: [] };
    const nobodys = replaceStatement({ ...total, row: undefined } as never, { books_root: '0'.repeat(64) }, sign);
    expect(codeOf({ ...nobodys, rails: [empty] })).toBe('valid');
    for (const other of [{ root: '1'.repeat(64) }, { total: '1' }])
      expect(codeOf({ ...nobodys, rails: [{ ...empty, ...other }] })).toBe('total_not_stated');
    for (const sum of ['00', '+1', '1e3'])
      expect(codeOf({ ...nobodys, rails: [{ ...empty, total: sum }] })).toBe('malformed');
  });

  it('tells nobody another’s by what the log’s tiles show of its leaves', () => {
    const [{ siblings }] = total.rails as unknown as [{ readonly siblings: readonly string[] }];
    const { leaf_index, leaf_hash, preimage } = elsewhere.row;
    const guessed = (payload_hash: string) => {
      const row = { agent_id: 2, rail: 'usdc', row: 0, leaf_index, payload_hash, amount: atomicAmount(13n) };
      const root = sumLeaf(row).hash.toString('hex');
      const value = totalValue(2, { rail: 'usdc', rows: 1, total: '13', root });
      return mapLeaf(Buffer.from(totalKey(2, 'usdc'), 'hex'), Buffer.from(value, 'hex')).toString('hex');
    };
    expect(siblings).not.toContain(guessed(leaf_hash));
    expect(siblings).toContain(guessed(sha256Hex(preimage)));
  });

  it('is of receipts that stand in the log of its statement', () => {
    expect(codeOf(replaceStatement(total, { tree_size: 1 }, sign))).toBe('row_not_in_log');
    expect(codeOf(replaceStatement(total, { root_hash: '0'.repeat(64) }, sign))).toBe('row_not_in_log');
  });
});

describe('the proof of a payment', () => {
  const used = (proof: Paid, { leaf_index, preimage }: Pick<Paid, 'leaf_index' | 'preimage'>): JsonObject => {
    const map = new SparseMap();
    map.set(paymentKey(proof.payment), paymentValue({ leaf_index, payload_hash: sha256Hex(preimage) }));
    map.store();
    return replaceStatement({ ...proof, siblings: [] }, { payments_root: map.root }, sign);
  };

  it('is valid as the service made it', () => {
    for (const document of [paid, other]) expect(codeOf(document)).toBe('valid');
  });

  it('is found out where the payment backs another receipt', () => {
    expect(codeOf(used(paid, paid))).toBe('valid');
    expect(codeOf(used(paid, other))).toBe('payment_backs_another');
    const { leaf_index, leaf_hash, preimage, inclusion, task_id } = other;
    const twice = { ...paid, leaf_index, leaf_hash, preimage, inclusion, task_id } as JsonObject;
    expect(codeOf(twice)).toBe('payment_differs');
    expect(codeOf({ ...paid, leaf_index })).toBe('payment_backs_another');
    expect(codeOf({ ...paid, preimage } as JsonObject)).toBe('receipt_differs');
  });

  /** A log with one receipt of that payment and the map with the payment, all signed by the issuer. */
  function provenAs(payment: Paid['payment'], spelling = (text: string) => text): JsonObject {
    const payload = JSON.parse(String(paid.preimage)) as JsonObject;
    const { payment_ref: ref, ...place } = payment;
    const signed = { ...payload, payment: { ...(payload.payment as JsonObject), ref, ...place } };
    const preimage = spelling(canonicalJson(signed));
    const leaf = { leaf_index: 0, leaf_hash: leafHash(preimage).toString('hex') };
    const shown = { ...paid, payment, preimage, ...leaf, inclusion: [] };
    return replaceStatement(used(shown, shown), { tree_size: 1, root_hash: leaf.leaf_hash }, sign);
  }

  it('is of one spelling, so that no payment has two keys', () => {
    const [hash, solana] = ['ab'.repeat(32), '5'.repeat(87)];
    const named = (network: string, payment_ref: string, transfer_index: number) => {
      return { network, payment_ref, transfer_index };
    };
    for (const payment of [named('base', `base:0x${hash}`, 0), named('solana', `solana:${solana}`, 2)])
      expect([payment, codeOf(provenAs(payment))]).toEqual([payment, 'valid']);
    for (const payment of [
      named('base', `base:0x${hash.toUpperCase()}`, 0),
      named('base', `base:${hash}`, 0),
      named('base', `eip155:8453:0x${hash}`, 0),
      named('eip155:8453', `eip155:8453:0x${hash}`, 0),
      named('solana', `base:0x${hash}`, 0),
      named('solana', `solana:1${solana}`, 2),
      named('solana', `solana:${solana}`, 0),
      named('__proto__', `__proto__:0x${hash}`, 0),
    ])
      expect([payment, codeOf(provenAs(payment))]).toEqual([payment, 'payment_misspelt']);
  });

  it('is of a receipt in its canonical form', () => {
    expect(codeOf(provenAs(paid.payment))).toBe('valid');
    expect(codeOf(provenAs(paid.payment, text => text.replace('{', '{"payment":{"ref":"another"},')))).toBe(
      'receipt_differs',
    );
    expect(codeOf(provenAs(paid.payment, text => `${text} `))).toBe('receipt_differs');
  });

  it('names the payment that the receipt signs', () => {
    for (const path of [['network'], ['payment_ref'], ['transfer_index']])
      expect(
        codeOf(
          alter(paid, ['payment', ...path], was => (typeof was === 'number' ? was + 1 : 'base:0x00')) as JsonObject,
        ),
      ).toBe('payment_differs');
  });
});

describe('whatever is shown', () => {
  it('counts in each of its parts: nothing of it can be another', () => {
    for (const document of [total, paid, total.statement as JsonObject]) {
      for (const path of paths(document)) {
        if (path.at(-1) === 'verify_jwks' && path.length === 1 && document.statement !== undefined) continue;
        const changed = alter(document, path, was =>
          typeof was === 'number' ? was + 1 : typeof was === 'string' ? `${was}0` : '0',
        );
        expect([path, codeOf(changed as JsonObject)]).not.toEqual([path, 'valid']);
      }
    }
  });

  it('is signed by the issuer and by nobody else', () => {
    expect(codeOf(total, otherIssuer.jwks)).toBe('signature_invalid');
    expect(codeOf({ ...total, statement: { ...(total.statement as JsonObject), tree_size: 4 } })).toBe(
      'signature_invalid',
    );
    const { statement } = total;
    if (!isJsonObject(statement)) throw new Error('there is no statement');
    const { signature: _, ...claims } = statement;
    expect(codeOf(sign({ ...claims, schema: 'svc402.receipt.v1' }))).not.toBe('valid');
    expect(codeOf({ ...total, statement: sign({ ...claims, tree_size: '5' }) })).toBe('not_a_totals_statement');
  });

  it('is told where nobody signed it', () => {
    expect(verifyTotals({ ...total, note: 'trust me' }, issuer.jwks)).toMatchObject({
      kind: 'valid',
      report: { unsigned: { unknown: ['note'] } },
    });
    for (const document of [total, paid])
      expect(
        verifyTotals({ ...document, verify_jwks: 'https://elsewhere.example/jwks.json' }, issuer.jwks),
      ).toMatchObject({ kind: 'valid', report: { unsigned: { unknown: ['verify_jwks'] } } });
  });
});
