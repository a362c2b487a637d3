import { FailedTransactionMetadata, LiteSVM } from 'litesvm';
import type { Json } from '../../../schema/canonical-json.ts';
import { type SvmAccount, usdcHolding } from './accounts.ts';
import { openClock } from './clock.ts';
import { failureJson, stands, statusJson } from './failure.ts';
import type { Deed, Journal } from './journal.ts';
import { holdingsOf, type Landed, type Readable, readTransaction, traceOf } from './landed.ts';

type Address = Parameters<LiteSVM['getAccount']>[0];
type SvmTransaction = Parameters<LiteSVM['sendTransaction']>[0];

/** What becomes of a transaction that is sent. */
export type Sent =
  | { readonly kind: 'accepted'; readonly signature: string }
  | { readonly kind: 'refused'; readonly err: Json; readonly logs: readonly string[] };

export interface Simulated {
  readonly err: Json;
  readonly logs: readonly string[];
  readonly units: number;
  readonly inner: Json;
}

export type SvmChain = ReturnType<typeof openChain>;

/** A Solana with one node: LiteSVM executes, the clock makes slots and blockhashes, the journal keeps what happened. */
export function openChain(journal: Journal, genesis: readonly SvmAccount[], now_ms: () => number) {
  const deeds: Deed[] = [...journal.past];
  let clock = openClock(journal.genesis, now_ms);
  let svm = emptySvm(genesis);
  let landed = new Map<string, Landed>();
  const waiting: Buffer[] = [];
  let stalled = false;

  const effects = {
    transaction: (deed: Deed & { kind: 'transaction' }) => {
      const one = land(svm, Buffer.from(deed.raw, 'base64'), deed.slot, clock.time(deed.slot));
      if (one) landed.set(one.signature, one);
    },
    funded: (deed: Deed & { kind: 'funded' }) => fund(svm, deed),
    skipped: (deed: Deed & { kind: 'skipped' }) => clock.skip(deed.slots),
    paced: (deed: Deed & { kind: 'paced' }) => clock.pace(deed.slot_ms, deed.at_ms),
    forgotten: () => {},
  };
  const apply = (deed: Deed) => (effects[deed.kind] as (deed: Deed) => void)(deed);
  const replay = () => {
    const gone = new Set(deeds.flatMap(deed => (deed.kind === 'forgotten' ? [deed.signature] : [])));
    const isGone = (deed: Deed) => gone.size > 0 && deed.kind === 'transaction' && gone.has(signatureOf(deed));
    clock = openClock(journal.genesis, now_ms);
    svm = emptySvm(genesis);
    landed = new Map();
    // Signatures were checked when it was first done: that is most of the work.
    svm.withSigverify(false);
    for (const deed of deeds) if (!isGone(deed)) apply(deed);
    svm.withSigverify(true);
  };
  /** On disk first: what anybody can have seen is never lost. */
  const perform = (deed: Deed) => {
    journal.append(deed);
    deeds.push(deed);
    if (deed.kind === 'forgotten') replay();
    else apply(deed);
  };

  const enter = (raw: Buffer) => {
    const read = readTransaction(raw);
    if (!clock.isValid(read.message.lifetimeToken) || landed.has(read.signature)) return;
    // What stands in the journal is done again without a look at signatures.
    if (run(svm, read, true).err === 'SignatureFailure') return;
    perform({ kind: 'transaction', slot: clock.slot(), at_ms: now_ms(), raw: raw.toString('base64') });
  };
  const simulate = (
    read: Readable,
    checks: { readonly signatures: boolean; readonly blockhash: boolean },
  ): Simulated => {
    if (checks.blockhash && !clock.isValid(read.message.lifetimeToken)) return unrun('BlockhashNotFound');
    if (landed.has(read.signature)) return unrun('AlreadyProcessed');
    return run(svm, read, checks.signatures);
  };
  const send = (raw: Buffer, preflight: boolean): Sent => {
    const read = readTransaction(raw);
    if (preflight) {
      const { err, logs } = simulate(read, { signatures: true, blockhash: true });
      if (err !== null) return { kind: 'refused', err, logs };
    }
    if (stalled) waiting.push(raw);
    else enter(raw);
    return { kind: 'accepted', signature: read.signature };
  };

  replay();
  return {
    clock: () => clock,
    account: (at: string) => svm.getAccount(at as Address),
    rentExemption: (bytes: bigint) => svm.minimumBalanceForRentExemption(bytes),
    landed: (signature: string) => landed.get(signature) ?? null,
    /** In the order of their landing. */
    all: () => [...landed.values()],
    simulate,
    send,
    perform,
    /** Stalled: takes transactions and holds them, in memory alone; running again it executes those still valid. */
    stall(on: boolean): void {
      stalled = on;
      if (!on) for (const raw of waiting.splice(0)) enter(raw);
    },
    /** Of those that are held. */
    waiting: () => waiting.map(raw => readTransaction(raw).signature),
    /** Loses what is held, as a mempool does. */
    drop: () => void waiting.splice(0),
  };
}

function emptySvm(genesis: readonly SvmAccount[]): LiteSVM {
  // Blockhashes and replays are looked after here: LiteSVM knows one blockhash, where Solana takes the last 150.
  const svm = new LiteSVM().withBlockhashCheck(false).withTransactionHistory(0n);
  for (const account of genesis) svm.setAccount(account);
  return svm;
}

function fund(svm: LiteSVM, deed: Deed & { kind: 'funded' }): void {
  const account = svm.getAccount(deed.usdc_account as Address);
  const held = account.exists ? Buffer.from(account.data).readBigUInt64LE(64) : 0n;
  svm.setAccount(usdcHolding(deed.usdc_account, deed.owner, held + BigInt(deed.usdc_atomic)));
  if (deed.lamports !== '0')
    svm.airdrop(deed.owner as Address, BigInt(deed.lamports) as Parameters<LiteSVM['airdrop']>[1]);
}

/** Null for one that no block takes: it is not signed, or its fee payer has nothing. */
function land(svm: LiteSVM, raw: Buffer, slot: number, time: number): Landed | null {
  const read = readTransaction(raw);
  const clock = svm.getClock();
  clock.slot = BigInt(slot);
  clock.unixTimestamp = BigInt(time);
  svm.setClock(clock);
  const before = holdingsOf(svm, read.keys);
  const result = withoutThrow(() => svm.sendTransaction(read.transaction as SvmTransaction));
  if (result === null) return null;
  const failure = result instanceof FailedTransactionMetadata ? result.err() : null;
  if (failure !== null && !stands(failure)) return null;
  const after = holdingsOf(svm, read.keys);
  const err = failure === null ? null : failureJson(failure);
  const meta = {
    err,
    status: statusJson(err),
    fee: (before.lamports[0] ?? 0) - (after.lamports[0] ?? 0),
    preBalances: before.lamports,
    postBalances: after.lamports,
    preTokenBalances: before.tokens,
    postTokenBalances: after.tokens,
    rewards: [],
    loadedAddresses: { readonly: [], writable: [] },
    ...traceOf(result instanceof FailedTransactionMetadata ? result.meta() : result),
  };
  return { ...read, raw, slot, err, meta };
}

function run(svm: LiteSVM, read: Readable, signatures: boolean): Simulated {
  const unsigned = Object.entries(read.transaction.signatures).map(([key, bytes]) => [
    key,
    bytes ?? new Uint8Array(64),
  ]);
  const transaction = signatures ? read.transaction : { ...read.transaction, signatures: Object.fromEntries(unsigned) };
  svm.withSigverify(signatures);
  const result = withoutThrow(() => svm.simulateTransaction(transaction as SvmTransaction));
  svm.withSigverify(true);
  if (result === null) return unrun('SignatureFailure');
  const trace = traceOf(result.meta());
  return {
    err: result instanceof FailedTransactionMetadata ? failureJson(result.err()) : null,
    logs: result.meta().logs(),
    units: Number(result.meta().computeUnitsConsumed()),
    inner: trace.innerInstructions ?? [],
  };
}

/** LiteSVM's binding throws where a signature is missing. */
function withoutThrow<T>(act: () => T): T | null {
  try {
    return act();
  } catch {
    return null;
  }
}

function unrun(err: string): Simulated {
  return { err, logs: [], units: 0, inner: [] };
}

function signatureOf(deed: Deed & { kind: 'transaction' }): string {
  return readTransaction(Buffer.from(deed.raw, 'base64')).signature;
}
