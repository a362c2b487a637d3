import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Refusal } from '../../schema/errors.ts';
import type { AgentId } from '../../schema/ids.ts';
import { limits } from '../../schema/limits.ts';
import { verifyUrl } from '../../schema/links.ts';
import { isBookStopped } from '../../subgraphs/book/policy/kill-switch.ts';
import type { Charge, ChargeLegs, ChargeStream } from '../../subgraphs/charge-port.ts';
import type { Clock, Random } from '../../subgraphs/clock.ts';
import type { Context } from '../../subgraphs/context.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { CancelWatcher } from '../../subgraphs/live-channels.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import type { AnyPaid, AnyStream, AnyWhole } from '../../subgraphs/sale.ts';
import type { SessionContext } from '../../subgraphs/session/context.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { WalletProofs } from '../../subgraphs/wallet-proofs.ts';
import type { LogStanding } from '../log/open-log.ts';
import type { Faults } from '../operations/faults.ts';
import type { RecordableOutcome } from '../rails/outcome.ts';
import type { Rails } from '../rails/rail.ts';
import type { Rates } from '../rates/rates.ts';
import type { Challenges, PayTo } from '../x402/offer.ts';
import { openAdmission, requireParent } from './admission.ts';
import { holdWaived, KeyCalls, waiverOf } from './by-key.ts';
import { type CancelTask, openCancel, openCancelHearing, WorkUnderway } from './cancel.ts';
import { type Claimed, landsOn, openClaimRequests, openTakeClaim } from './claim/take.ts';
import { StreamsInFlight } from './drive-stream.ts';
import { Failures } from './failures.ts';
import { abandonClaimed, type GivingUp, openGivingUp, ReleaseLater } from './give-up.ts';
import { openAdmitUnder, openAdmitUnderKey } from './grants.ts';
import { Guesses } from './guesses.ts';
import type { Footing } from './held.ts';
import { type KeepParts, keepLeg, openLookAtFirst } from './held-leg.ts';
import { type Judge, openJudge } from './judge.ts';
import { type KnownCharge, openIsSigned, openKnownCharge } from './known-charge.ts';
import { boughtOnce } from './names.ts';
import { type EnterParts, holdPaid, openEnter } from './paid.ts';
import type { OpenedRecording } from './record/open-recording.ts';
import { type RecordParts, recordClaim, recordUnanswered } from './record-claim.ts';
import { openRefusalOfAct, openRefusedByBook, type RefusedByBook } from './refused-by-book.ts';
import { redeliver } from './replay.ts';
import { type MarksOf, openMarks } from './request.ts';
import { type Hears, openHears } from './respond.ts';
import { openAnnounce, withTransaction } from './response-headers.ts';
import { openSettling } from './settle.ts';
import { deliverStreamed, streamKept } from './streamed.ts';
import { type LegParts, openLegs } from './two-legs.ts';
import { openVerify, type Presented } from './verify-payment.ts';
import { deliverWhole } from './whole.ts';

/** What charge needs of the other parts; each step gets only what it uses. */
export interface ChargeParts {
  readonly database: Database;
  readonly rails: Rails;
  readonly pay_to: PayTo;
  readonly challenges: Challenges;
  readonly recording: OpenedRecording;
  readonly issuer: Issuer;
  readonly vault: Vault;
  /**
   * While the log is unsound no payment is accepted, because its record could not be relied on. While it is halted nothing is
   * recorded or released either: the database has gone back, and its state of payments may be old.
   */
  readonly log: LogStanding;
  readonly rates: Pick<Rates, 'uncharged'>;
  /** Everything that is sold, by field. */
  readonly sold: ReadonlyMap<string, AnyPaid>;
  /** Owner name of this process in leases and claims. */
  readonly owner: string;
  readonly base_url: string;
  /** The current URL, then former ones. */
  readonly base_urls: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: Faults | null;
  /** Checks whose signature a grant has. */
  readonly wallets: WalletProofs;
  agentOfWallet(wallet: string): Promise<AgentId | null>;
}

export interface OpenedCharge {
  readonly charge: Charge;
  readonly chargeStream: ChargeStream;
  readonly chargeLegs: ChargeLegs;
  readonly judge: Judge;
  readonly streams: StreamsInFlight;
  readonly giving_up: GivingUp;
  readonly later: ReleaseLater;
  readonly cancelTask: CancelTask;
  readonly refusalOfAct: SessionContext['refusalOfAct'];
  readonly heardCanceled: CancelWatcher;
}

/** Needed by all kinds of calls, beside their own parts. */
interface Tools {
  readonly hears: Hears;
  readonly marksOf: MarksOf;
  readonly giving_up: GivingUp;
  readonly later: ReleaseLater;
  readonly refusedByBook: RefusedByBook;
  readonly failures: Failures;
  readonly underway: WorkUnderway;
  readonly known: KnownCharge;
}

type Stand = (paid: AnyPaid, args: JsonObject, context: Context) => Promise<Footing>;

/** Assembles a paid call: what it may rest on, and how its answer is delivered. */
export function openCharge(parts: ChargeParts): OpenedCharge {
  const { database, rails, pay_to, log, recording, clock, faults, sold } = parts;
  const tools = openTools(parts);
  const { hears, giving_up, later, underway } = tools;
  const { stand: standByPayment, ...paying } = openPaying(parts, tools);
  const standByKey = openWaiving(parts, tools);
  const stand: Stand = async (paid, args, context) => {
    const waiver = waiverOf(hears, paid, context);
    if (waiver) return standByKey(paid, args, waiver, context);
    return standByPayment(paid, args, context);
  };
  const streams = new StreamsInFlight();
  const whole = async (paid: AnyWhole, args: JsonObject, context: Context) => {
    const footing = await stand(paid, args, context);
    if (footing.kind === 'kept') return footing.kept.charged;
    return deliverWhole({ faults, underway }, paid, footing.held, context);
  };
  const streamed = async (paid: AnyStream, args: JsonObject, context: Context) => {
    const footing = await stand(paid, args, context);
    if (footing.kind === 'kept') return streamKept(paid, footing.kept);
    return deliverStreamed({ streams, underway, faults }, paid, footing.held, context);
  };
  const inTwo = openLegs({
    database,
    ...paying,
    whole,
    lookAtFirst: openLookAtFirst({ database, rails }),
    known: tools.known,
    replay: recording.queues.replay.submit.bind(recording.queues.replay),
    faults,
    hears,
  });
  const told = telling(database);
  return {
    // Every declaration is sold here; each caller gets the type of its own declaration.
    charge: told(whole) as unknown as Charge,
    chargeStream: told(streamed) as unknown as ChargeStream,
    chargeLegs: told(inTwo) as unknown as ChargeLegs,
    judge: openJudge({ rails, pay_to, clock, sold, known: tools.known, hears }),
    cancelTask: openCancel({ database, log }),
    heardCanceled: openCancelHearing({ database, underway, failures: tools.failures }),
    refusalOfAct: openRefusalOfAct(recording, tools.refusedByBook),
    streams,
    giving_up,
    later,
  };
}

function openTools(parts: ChargeParts): Tools {
  const { database, challenges, log, recording, rates, base_url, clock, vault } = parts;
  const hears = openHears(challenges, base_url);
  const later = new ReleaseLater();
  return {
    hears,
    marksOf: openMarks(vault),
    giving_up: openGivingUp({ database, log, later }),
    later,
    refusedByBook: openRefusedByBook({ database, recording, base_url, hears }),
    failures: new Failures(rates.uncharged, clock),
    underway: new WorkUnderway(),
    known: openKnownCharge({ database, isSigned: openIsSigned(parts), hears, log }),
  };
}

/** A caller whose payment's outcome is unknown is told the transaction that was sent for it. */
function telling(database: Database) {
  return <P, T>(sell: (paid: P, args: JsonObject, context: Context) => Promise<T>): typeof sell =>
    (paid, args, context) =>
      sell(paid, args, context).catch(async error => {
        throw await withTransaction(database, context, error);
      });
}

/** Calls by payment or by former purchase; and the steps of calls with two payments. */
function openPaying(parts: ChargeParts, tools: Tools) {
  const { hears, marksOf, giving_up, later, refusedByBook, failures, underway, known } = tools;
  const { database, rails, pay_to, log, recording, vault, issuer, base_url, owner, clock, random, faults } = parts;
  const { queues, record } = recording;
  const { base_urls, wallets, agentOfWallet } = parts;
  const guesses = new Guesses({ database, clock, log, hears, agentOfWallet, base_url, base_urls });
  const enter = openEnter({
    verify: openVerify({ database, rails, pay_to, clock, marksOf, failures, hears, base_urls, wallets }),
    guesses,
    boughtOnce: boughtOnce.bind(null, { database, guesses, hears }) as EnterParts['boughtOnce'],
    admit: openAdmission({
      database,
      guesses,
      hears,
      requireParent: openRequireParent(parts),
      admitUnder: openAdmitUnder({ ...parts, failures }),
    }),
    take: openTakeClaim({
      database,
      queue: queues.claim,
      log,
      giving_up,
      later,
      hears,
      requestOf: openClaimRequests({ random, vault, pay_to, owner, hears }),
    }),
    refusedByBook,
    failures,
    known,
    clock,
    random,
    hears,
  });
  const announce = openAnnounce(issuer, base_url);
  const held_by = {
    settling: openSettling({ database, vault, log, hears }),
    record: recordClaim.bind(null, { record, faults }),
    keep: keepClaimed.bind(null, { database, faults }),
    abandon: abandonClaimed.bind(null, { giving_up, failures, underway, hears }),
    stopped: stoppedByBook.bind(null, { database, record, faults, base_url, hears }),
    announce,
    clock,
    faults,
  };
  const bought_by = {
    database,
    replay: queues.replay,
    vault,
    log,
    announce,
    base_url,
    clock,
    failures,
    hears,
    reruns: { database, vault, owner, later, log, clock },
  };
  const hold: LegParts['hold'] = holdPaid.bind(null, held_by);
  const stand: Stand = async (paid, args, context) => {
    const entered = await enter(paid, args, context);
    if (entered.kind === 'bought') return redeliver(bought_by, entered, context);
    return { kind: 'held', held: await hold(entered, context) };
  };
  return { stand, enter, hold, announce };
}

/** A stamp has no work that could be stopped: it takes effect or not. */
async function stoppedByBook(
  { database, base_url, hears, ...parts }: Pick<ChargeParts, 'database' | 'base_url'> & RecordParts & { hears: Hears },
  claimed: Claimed,
  transfer: RecordableOutcome,
): Promise<Refusal | null> {
  const { paid, claim, task_id } = claimed;
  const works = paid.order === 'work_then_settle' || paid.order === 'stream';
  if (!works || !(await isBookStopped(database, claim.agent_id))) return null;
  await recordUnanswered(parts, claimed, transfer);
  return hears({ kind: 'kill_switch_resend', task_id, verify_url: verifyUrl(base_url, task_id) });
}

/** Keeps the first of two payments; no other claim is kept this way. */
function keepClaimed(parts: KeepParts, { paid, args, task_id, lease, payment }: Claimed, transfer: RecordableOutcome) {
  if (paid.order !== 'leg') throw new Error(`${paid.field} is recorded as it is paid`);
  return keepLeg(parts, { paid, args, task_id, lease, authorization: payment.authorization, transfer });
}

/** For a payment: the session's book, or else its payer's. */
function openRequireParent({ database, agentOfWallet }: Pick<ChargeParts, 'database' | 'agentOfWallet'>) {
  return (presented: Presented, context: Context) =>
    requireParent(database, presented.call, async () => {
      const book = await landsOn(presented, context);
      return book === 'payers' ? agentOfWallet(presented.payer.wallet) : book;
    });
}

/** Calls by API key, without money. */
function openWaiving(parts: ChargeParts, { hears, marksOf, later, refusedByBook, failures }: Tools) {
  const { database, log, recording, vault, owner, clock, random, faults, wallets, base_urls } = parts;
  const { queues, record } = recording;
  const waived_by = {
    admitUnderKey: openAdmitUnderKey({ database, wallets, base_urls, clock }),
    names: { database, vault, replay: queues.replay, log, hears },
    key_calls: new KeyCalls(limits.key_calls_underway_max, hears),
    failures,
    marksOf,
    random,
    log,
    queue: queues.key_call,
    refusedByBook,
    record,
    later,
    owner,
    clock,
    faults,
    hears,
  };
  return holdWaived.bind(null, waived_by);
}
