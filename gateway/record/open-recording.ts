import { BlockedCalls } from '../../subgraphs/book/ledger/blocked-calls.ts';
import type { Random } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { KnownLog } from '../../subgraphs/receipt/log/known-log.ts';
import type { SavedHead } from '../../subgraphs/receipt/log/saved-head.ts';
import type { Refuser } from '../../subgraphs/receipt/refusal/sign-refusal.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { Faults } from '../operations/faults.ts';
import { type FormParts, prepareRecord } from './forms.ts';
import { openQueues, type Queues } from './queues.ts';
import { openRecorder } from './recorder.ts';
import type { Recordable, Recorded } from './recording.ts';

export interface RecordingParts extends FormParts {
  readonly database: Database;
  readonly vault: Pick<Vault, 'seal'>;
  readonly random: Random;
  /** What this process knows of the log by itself: a batch appends to no other. */
  readonly known_log: KnownLog;
  readonly saved_head: SavedHead;
  /** What a signed refusal says of when it was made. */
  readonly anchor: Refuser['anchor'];
  readonly faults: Faults | null;
}

/** The one way into the record, whoever it is for and whether a payment moved or a key stood in for it. */
export type RecordCall = (recordable: Recordable) => Promise<Recorded>;

export interface OpenedRecording {
  readonly queues: Queues;
  readonly blocked_calls: BlockedCalls;
  readonly record: RecordCall;
}

/** Row, receipt, leaf and head in one commit; then the head outside the database, and only then the answer to the caller. */
export function openRecording(parts: RecordingParts): OpenedRecording {
  const { database, issuer, vault, random, profile, known_log, saved_head, anchor, faults } = parts;
  const blocked_calls = new BlockedCalls();
  const refusing = { refuser: { issuer, random, profile, anchor }, blocked_calls };
  const queues = openQueues(database, openRecorder(issuer, vault.seal, known_log), refusing, faults);
  return {
    queues,
    blocked_calls,
    async record(recordable) {
      const prepared = prepareRecord(parts, recordable.settled);
      const recorded = await queues.record.submit({ ...recordable, prepared });
      known_log.committed(recorded.tree_head);
      await faults?.reach('after_record');
      await saved_head.save(recorded.tree_head);
      return recorded;
    },
  };
}
