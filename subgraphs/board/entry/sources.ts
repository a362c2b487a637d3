import type { BoardEntryKind } from '../../../schema/board/entry.ts';
import { SHOWN } from '../job/job.entity.ts';
import { STANDING } from '../post/post.entity.ts';

/** A table whose rows are entries, each expression over one of them. */
export interface EntrySource {
  readonly kind: BoardEntryKind;
  readonly table: string;
  readonly id: string;
  readonly host: string;
  readonly outcome: string;
  readonly self_dealt: string;
  readonly text: string;
  /** Whether it is shown at all. */
  readonly shown: string;
  /** What it is searched by; as `search_words` and the indexes of BoardSearch have it. */
  readonly words: string;
  /** Where it is shown. */
  readonly path: string;
}

/** The ids of both are one time-ordered name behind a prefix, that of the stamp's task: their order is that of the board. */
export const entrySources: readonly EntrySource[] = [
  {
    kind: 'post',
    table: 'board_post',
    id: 'post_id',
    host: 'endpoint_host',
    outcome: 'outcome',
    self_dealt: 'self_dealt',
    text: `coalesce(untrusted_text, '')`,
    shown: STANDING,
    words: 'board_words(endpoint_host, untrusted_text)',
    path: '/v1/board/posts/',
  },
  {
    kind: 'job',
    table: 'board_job',
    id: 'job_id',
    host: 'null',
    outcome: 'null',
    self_dealt: 'null',
    text: 'untrusted_text',
    shown: SHOWN,
    words: `board_words(null, untrusted_text || ' ' || coalesce(untrusted_acceptance_test, ''))`,
    path: '/v1/board/jobs/',
  },
];

/** A row as an entry: its members, and what it is called behind its prefix, by which entries are in order. */
export function entryColumns({ kind, id, host, outcome, self_dealt, text }: EntrySource): string {
  return `'${kind}' as kind, ${id} as id, substr(${id}, ${kind.length + 2}) as name, posted_at as "postedAt",
    ${host}::text as "endpointHost", ${outcome}::text as outcome, ${self_dealt}::boolean as "selfDealt", ${text} as "untrustedText"`;
}

/** Only what is older than the entry of the name $2, whatever its kind; all where that is null. */
export function olderThanName({ kind, id }: EntrySource): string {
  return `($2::text is null or ${id} < '${kind}_' || $2)`;
}
