import { type JsonObject } from '../../../schema/canonical-json.ts';
import { booksOfCollections, type CollectedCall } from '../../../subgraphs/book/ledger/collect.ts';
import { awaitArrivals } from '../../../subgraphs/receipt/claim/doubt.ts';
import { endKeyCalls } from '../../../subgraphs/receipt/claim/key-call/hold.ts';
import { keepNamed } from '../../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import { landingsOf } from '../../../subgraphs/receipt/claim/landing.ts';
import { answerLabel } from '../../../subgraphs/receipt/claim/rerun.ts';
import { takeFreeSlots } from '../../../subgraphs/receipt/claim/slots.ts';
import { markRecorded, storeAnswers } from '../../../subgraphs/receipt/claim/transitions.ts';
import { countSpent, keepCalls, type RecordedCall } from '../../../subgraphs/session/delegation/count-spent.ts';
import { type Tx } from '../../../subgraphs/transaction.ts';
import { type Ground } from '../ground.ts';
import { type Landing, type Recorded, type Recording, SlotTaken } from './facts.ts';
import { stampedBy } from './forms.ts';
import { type RecordKind } from './record.ts';

/**
 * Calls that were sold, by payment or API key: the claim becomes `recorded` or the hold ends, and a stamp takes effect. A claim is recorded
 * only under its lease, a call by API key only under its hold.
 */
export function soldKind({ vault }: Pick<Ground, 'vault'>): RecordKind<Recording, Recorded> {
  return {
    async take(tx, recordings) {
      const paid = recordings.filter(recording => 'lease' in recording);
      const by_key = recordings.filter(recording => 'hold' in recording);
      const named = by_key.flatMap(recording => recording.named ?? []);
      if (named.length > 0) await keepNamed(tx, named);
      await holdWaivedSlots(tx, by_key);
      const leases = paid.map(({ lease }) => lease);
      // This statement is sent before the log is locked, so that a lost claim, which is rare, locks it only until the rollback arrives.
      const marked = markRecorded(tx, leases, siblingsOf(paid));
      const vouched = paid.flatMap(({ lease, settled }) =>
        settled.transfer.kind === 'vouched' ? [lease.claim_key] : [],
      );
      if (vouched.length > 0) awaitArrivals(tx, vouched);
      const holds = by_key.map(({ hold }) => hold);
      const ended = holds.length > 0 ? endKeyCalls(tx, holds) : null;
      const answers: (JsonObject | null)[] = [];
      let under: Awaited<ReturnType<typeof keepUnderSessions>> = [];
      const collections = recordings.flatMap(recording => recording.collections);
      const stamps = recordings.some(({ answer }) => answer.kind === 'stamp');
      return {
        // A stamp locks its rows between the log's head and the books'. A call by key is often lost, to a cancel, and should not wait for books.
        ...(stamps || by_key.length > 0 ? {} : { books: booksOfCollections(collections) }),
        sent: [marked, ...(ended ? [ended] : [])],
        async append(log) {
          for (const recording of recordings) answers.push(await answerOf(tx, recording, log.collected_at_ms));
          await storeAnswers(tx, sealed(recordings, answers, vault));
          under = await keepUnderSessions(tx, paid, by_key);
          return collections;
        },
        async end(appended) {
          if (appended === null) throw new Error('every call that was sold is appended to the log');
          // The spending is counted last, because sessions are locked after the heads of books.
          await countSpent(tx, under);
          return firstOfEach(recordings, appended.collected).map(({ receipt }, index) => ({
            receipt,
            answer: answers[index] ?? null,
          }));
        },
      };
    },
  };
}

/** Claim keys of the held payments that are recorded with these calls. */
function siblingsOf(paid: readonly Recording[]): readonly string[] {
  return paid.flatMap(({ sibling }) => sibling ?? []);
}

/** Takes the slots of stamps by API key. @throws SlotTaken if one is taken. No money is involved, so nothing is recorded then */
async function holdWaivedSlots(tx: Tx, by_key: readonly Extract<Recording, { hold: object }>[]): Promise<void> {
  const wanted = by_key.flatMap(({ answer, settled: { task_id } }) => {
    const { slots } = (answer.kind === 'stamp' && answer.found) || { slots: [] };
    return slots.map(slot => ({ slot, claim_key: `waived:${task_id}` }));
  });
  if ((await takeFreeSlots(tx, wanted)).length > 0) throw new SlotTaken();
}

/** The answer to store. Null if it was sealed with the claim before. The effect of a stamp is written here. */
async function answerOf(tx: Tx, { answer, settled }: Recording, recorded_at_ms: number): Promise<JsonObject | null> {
  if (answer.kind === 'stored') return null;
  if (answer.kind === 'worked') return answer.answer;
  const { paid, args, found } = answer;
  return paid.commit(tx, args, { ...stampedBy(settled), recorded_at_ms }, found?.fact ?? null);
}

/** Answers that are stored for redelivery, encrypted. */
function sealed(
  recordings: readonly Recording[],
  answers: readonly (JsonObject | null)[],
  { seal }: Ground['vault'],
): Parameters<typeof storeAnswers>[1] {
  return recordings.flatMap((recording, index) => {
    const answer = answers[index];
    if (!answer || !('lease' in recording)) return [];
    const { lease, settled } = recording;
    return [{ claim_key: lease.claim_key, answer_box: seal(JSON.stringify(answer), answerLabel(settled.task_id)) }];
  });
}

/** The first receipt of each call, which is the one that its caller gets. */
function firstOfEach(recordings: readonly Recording[], collected: readonly CollectedCall[]): readonly CollectedCall[] {
  let place = 0;
  return recordings.map(({ collections }) => {
    const first = collected[place] as CollectedCall;
    place += collections.length;
    return first;
  });
}

/**
 * Stores the session of each call before the rows of the batch are written. Returns the payments that count as spent under a session: those
 * of the calls, and a payment that was held until now, which counted both. Calls by API key count towards no cap.
 */
async function keepUnderSessions(
  tx: Tx,
  paid: readonly Extract<Recording, { lease: object }>[],
  by_key: readonly Recording[],
): Promise<readonly RecordedCall[]> {
  const siblings = paid.flatMap(({ sibling }) => sibling ?? []);
  const held = siblings.length === 0 ? [] : await landingsOf(tx, siblings);
  const spent = [
    ...madeUnder(paid),
    ...held.flatMap(({ landing, ...call }): RecordedCall[] => {
      const { delegation } = landing as Landing;
      return delegation ? [{ ...call, under: delegation }] : [];
    }),
  ];
  keepCalls(tx, [...spent, ...madeUnder(by_key)]);
  return spent;
}

function madeUnder(recordings: readonly Pick<Recording, 'settled'>[]): RecordedCall[] {
  return recordings.flatMap(({ settled: { task_id, agent_id, landing } }) =>
    landing.delegation ? [{ task_id, agent_id, under: landing.delegation }] : [],
  );
}
