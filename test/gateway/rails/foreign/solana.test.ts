import { inspect } from 'node:util';
import { AccountRole, type Address, getBase58Decoder, type Instruction } from '@solana/kit';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type OpenedForeignTransfers,
  openForeignTransfers,
} from '../../../../gateway/rails/foreign/open-foreign-transfers.ts';
import { openFeePayer } from '../../../../gateway/rails/solana/settler.ts';
import { TOKEN_PROGRAM, usdcAccountOf } from '../../../../gateway/rails/solana/transfer.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import type { Json } from '../../../../schema/canonical-json.ts';
import { limits } from '../../../../schema/limits.ts';
import { networks } from '../../../../schema/network.ts';
import type { NamedTransfer } from '../../../../subgraphs/foreign-transfers.ts';
import { foreignPartsOf } from '../../../harness/foreign.ts';
import { type LyingChain, startLyingChain } from '../../../harness/lying-chain.ts';
import { makeTransaction, type TransactionParts } from '../../../harness/solana/wallet.ts';
import { freshSvm, type TestSvm } from '../../../harness/svm.ts';

let svm: TestSvm;
let node: LyingChain;
let payee: string;
let payer: Awaited<ReturnType<TestSvm['newWallet']>>;
let transfers: OpenedForeignTransfers;
let sent: string;
beforeAll(async () => {
  svm = await freshSvm();
  node = await startLyingChain(svm.rpc_url);
  transfers = await openForeignTransfers(foreignPartsOf({ solana_rpc_url: node.url }));
  payee = await svm.newTreasury();
  payer = await svm.newWallet();
  sent = await pay();
});
beforeEach(() => node.tellTruth());

/** Sends a payment with its own fee payer, and confirms it. */
async function pay(made: Partial<TransactionParts> = {}): Promise<string> {
  const { value } = await svm.call<{ value: { blockhash: string } }>('getLatestBlockhash', { commitment: 'confirmed' });
  const fee_payer = openFeePayer(svm.fee_payer.private_key);
  const terms = { payer: payer.signer, fee_payer: fee_payer.address, pay_to: payee, blockhash: value.blockhash };
  const { raw, signature } = fee_payer.sign({
    kind: 'partial',
    transaction: await makeTransaction({ ...terms, ...made }),
  });
  await svm.call('sendTransaction', raw, { encoding: 'base64', skipPreflight: true });
  await svm.advance(2);
  return signature;
}

/** The older of the two token transfers, which names no mint. */
async function plainTransfer(amount: bigint): Promise<Instruction> {
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(amount, 1);
  const accounts = [
    { address: (await usdcAccountOf(payer.address)) as Address, role: AccountRole.WRITABLE },
    { address: (await usdcAccountOf(payee)) as Address, role: AccountRole.WRITABLE },
    { address: payer.signer.address, role: AccountRole.READONLY_SIGNER, signer: payer.signer },
  ];
  return { programAddress: TOKEN_PROGRAM as Address, accounts, data };
}

const named = (transaction: string, changed: Partial<NamedTransfer> = {}): NamedTransfer => ({
  network: 'solana',
  transaction,
  index: null,
  payer: payer.address,
  pay_to: payee,
  amount_atomic: atomicAmount(2000n),
  ...changed,
});

const outcome = async (transaction: string, changed: Partial<NamedTransfer> = {}, asked = transfers) => {
  const seen = await asked.observe(named(transaction, changed));
  return seen.kind === 'not_believed' ? seen.reason : seen.kind;
};

async function observed(transaction: string, changed: Partial<NamedTransfer> = {}) {
  const seen = await transfers.observe(named(transaction, changed));
  if (seen.kind !== 'observed') throw new Error(inspect(seen));
  return seen;
}

describe('USDC that moved on Solana', () => {
  it('is observed by its instruction, between the owners of the accounts', async () => {
    const { transfer, seen_in } = await observed(sent, { payer: null });
    expect(transfer).toEqual({
      network: 'solana',
      rail: 'usdc',
      asset: networks.solana.usdc,
      transaction: sent,
      index: 2,
      payer: payer.address,
      pay_to: payee,
      amount: '2000',
    });
    expect(seen_in).toEqual({ block_number: expect.any(Number), block_hash: null, final: expect.any(Boolean) });
  });

  it('is observed in either way of the token, and by its place where there are several', async () => {
    const hash = await pay({ more: [await plainTransfer(700n), await plainTransfer(2000n)] });
    expect((await observed(hash, { amount_atomic: atomicAmount(700n) })).transfer.index).toBe(4);
    expect(await outcome(hash)).toBe('ambiguous');
    expect((await observed(hash, { index: 5 })).transfer.index).toBe(5);
    expect(await outcome(hash, { index: 4 })).toBe('no_such_transfer');
  });

  it.each<[string, () => Partial<NamedTransfer>]>([
    ['payer', () => ({ payer: payee })],
    ['payee', () => ({ pay_to: payer.address })],
    ['payee, by the account of the token', () => ({ pay_to: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' })],
    ['amount', () => ({ amount_atomic: atomicAmount(2001n) })],
    ['place', () => ({ index: 0 })],
  ])('is none of another %s', async (_, changed) => {
    expect(await outcome(sent, changed())).toBe('no_such_transfer');
  });

  it('is none where the transaction failed, or there is none, or nobody is to be asked', async () => {
    expect(await outcome(await pay({ amount_atomic: 10n ** 15n }), { amount_atomic: atomicAmount(10n ** 15n) })).toBe(
      'reverted',
    );
    expect(await outcome('5'.repeat(87))).toBe('not_found');
    expect(await outcome(sent, {}, await openForeignTransfers(foreignPartsOf({})))).toBe('unsupported');
  });

  it('in production is of the chain that we know', async () => {
    const strict = await openForeignTransfers(foreignPartsOf({ solana_rpc_url: node.url, profile: 'production' }));
    expect(await outcome(sent, {}, strict)).toBe('unknown');
  });
});

type Balance = {
  readonly accountIndex: number;
  readonly owner: string;
  readonly uiTokenAmount: { readonly amount: string };
};
type SolanaAnswer = {
  readonly slot: number;
  readonly transaction: readonly [string, string];
  readonly meta: {
    readonly err: Json;
    readonly innerInstructions: readonly Json[];
    readonly preTokenBalances: readonly Balance[];
    readonly postTokenBalances: readonly Balance[];
  };
};
const alterTransaction = (lie: (truth: SolanaAnswer) => unknown) => ({
  getTransaction: (truth: Json) => lie(truth as unknown as SolanaAnswer) as Json,
});
const meta = (change: (meta: SolanaAnswer['meta']) => object) =>
  alterTransaction(truth => ({ ...truth, meta: { ...truth.meta, ...change(truth.meta) } }));
const held = (balances: readonly Balance[], change: (balance: Balance) => object) =>
  balances.map(balance => ({ ...balance, ...change(balance) }));
const less = (by: bigint) => (balance: Balance) => {
  const sign = balance.owner === payee ? 1n : -1n;
  return { uiTokenAmount: { amount: String(BigInt(balance.uiTokenAmount.amount) + sign * by) } };
};

/** A transfer by SPL Token that another program made, between the accounts of an ordinary payment. */
async function innerTransfer(amount: bigint): Promise<Json> {
  const { message, accountKeys } = await keysOf(sent);
  const at = (key: string) => accountKeys.indexOf(key);
  const data = Buffer.alloc(9, 3);
  data.writeBigUInt64LE(amount, 1);
  const accounts = [at(await usdcAccountOf(payer.address)), at(await usdcAccountOf(payee)), at(payer.address)];
  return {
    index: message.instructions.length - 1,
    instructions: [
      { programIdIndex: at(TOKEN_PROGRAM), accounts, data: getBase58Decoder().decode(data), stackHeight: 2 },
    ],
  };
}

async function keysOf(signature: string) {
  const options = { maxSupportedTransactionVersion: 0, commitment: 'confirmed' };
  type Read = { transaction: { message: { accountKeys: string[]; instructions: Json[] } } };
  const { transaction } = await svm.call<Read>('getTransaction', signature, options);
  return { message: transaction.message, accountKeys: transaction.message.accountKeys };
}

describe('what one program had another move', () => {
  it('is observed, counted behind the instruction in which it ran', async () => {
    const inner = await innerTransfer(500n);
    node.lie(
      meta(({ postTokenBalances }) => ({
        innerInstructions: [inner],
        postTokenBalances: held(postTokenBalances, less(500n)),
      })),
    );
    const { transfer } = await observed(sent, { amount_atomic: atomicAmount(500n) });
    expect(transfer).toMatchObject({ index: 4, payer: payer.address, pay_to: payee, amount: '500' });
    expect((await observed(sent)).transfer.index).toBe(2);
  });

  it('is not believed where nothing changed by it', async () => {
    const inner = await innerTransfer(500n);
    node.lie(meta(() => ({ innerInstructions: [inner] })));
    expect(await outcome(sent, { amount_atomic: atomicAmount(500n) })).toBe('unknown');
  });
});

describe('a node of Solana that lies', () => {
  let other: string;
  beforeAll(async () => {
    other = await pay({ amount_atomic: 3000n });
  });

  it.each<[string, string, () => Parameters<LyingChain['lie']>[0] | Promise<Parameters<LyingChain['lie']>[0]>]>([
    [
      'of what an account held after',
      'unknown',
      () => meta(it => ({ postTokenBalances: held(it.postTokenBalances, less(1n)) })),
    ],
    [
      'of what an account held before',
      'unknown',
      () => meta(it => ({ preTokenBalances: held(it.preTokenBalances, less(1n)) })),
    ],
    ['of no balances', 'no_such_transfer', () => meta(() => ({ preTokenBalances: [], postTokenBalances: [] }))],
    [
      'of whose an account is',
      'no_such_transfer',
      () => meta(it => ({ postTokenBalances: held(it.postTokenBalances, () => ({ owner: payer.address })) })),
    ],
    [
      'of the token',
      'no_such_transfer',
      () =>
        meta(it => ({
          preTokenBalances: held(it.preTokenBalances, () => ({ mint: TOKEN_PROGRAM })),
          postTokenBalances: held(it.postTokenBalances, () => ({ mint: TOKEN_PROGRAM })),
        })),
    ],
    ['of the slot', 'unknown', () => alterTransaction(truth => ({ ...truth, slot: truth.slot + 1 }))],
    ['of failure', 'unknown', () => meta(() => ({ err: 'AccountInUse' }))],
    ['of having no inner instructions written down', 'unknown', () => meta(() => ({ innerInstructions: null }))],
    [
      'of an instruction that there is not',
      'unknown',
      () => meta(() => ({ innerInstructions: [{ index: 9, instructions: [] }] })),
    ],
    [
      'by bytes that its signers have not signed',
      'unknown',
      () => alterTransaction(truth => ({ ...truth, transaction: forged(truth) })),
    ],
    [
      'by bytes that are no transaction',
      'unknown',
      () => alterTransaction(truth => ({ ...truth, transaction: ['AAAA', 'base64'] })),
    ],
    [
      'of a status that there is not',
      'unknown',
      () => ({ getSignatureStatuses: () => ({ context: { slot: 9 }, value: [null] }) }),
    ],
    ['of a transaction that there is not', 'unknown', () => ({ getTransaction: () => null })],
    ['by half an answer', 'unknown', () => ({ getTransaction: () => ({ slot: 1 }) })],
  ])('%s is not believed: %s', async (_, expected, lies) => {
    node.lie(await lies());
    expect(await outcome(sent)).toBe(expected);
  });

  it('shows another transaction in the place of the one that was asked for', async () => {
    const truth = await svm.call<Json>('getTransaction', other, { encoding: 'base64', commitment: 'confirmed' });
    node.lie({ getTransaction: () => truth });
    expect(await outcome(sent, { amount_atomic: atomicAmount(3000n) })).toBe('unknown');
  });

  it.each(['huge', 'no_json'] as const)('answers by %s, which is no answer', async kind => {
    node.behave({ kind, methods: ['getTransaction'] });
    expect(await outcome(sent)).toBe('unknown');
  });
});

/** The transaction with another amount: one byte of the message is changed. */
function forged({ transaction: [text] }: SolanaAnswer): readonly [string, string] {
  const raw = Buffer.from(text, 'base64');
  const amount = Buffer.alloc(8);
  amount.writeBigUInt64LE(2000n);
  raw.writeUInt8(0xd1, raw.indexOf(amount));
  return [raw.toString('base64'), 'base64'];
}

describe('a transfer that was seen once', () => {
  it('is final once its block is', async () => {
    const { transfer, seen_in } = await observed(await pay());
    expect((await transfers.standing(transfer, seen_in)).kind).toBe('pending');
    await svm.finalize();
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'final' });
    expect(await transfers.standing({ ...transfer, index: 0 }, seen_in)).toEqual({ kind: 'vanished' });
  });

  it('has vanished where the final chain knows nothing of it long after', async () => {
    const hash = await pay();
    const { transfer, seen_in } = await observed(hash);
    await svm.forget(hash);
    await svm.finalize();
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'pending', seen_in });
    await svm.advance(limits.foreign_vanished_slots_min);
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'vanished' });
    // A node that has discarded that slot cannot say what it contained.
    node.lie({ getFirstAvailableBlock: () => (seen_in.block_number ?? 0) + 1 });
    expect(await transfers.standing(transfer, seen_in)).toEqual({ kind: 'unknown' });
  });
});
