import type { BoardEntryKind } from '../../../schema/board/entry.ts';
import { SHOWN } from '../job/job.entity.ts';
import { STANDING } from '../post/post.entity.ts';

/** A table whose rows are entries. The members are SQL expressions over one row. */
export interface EntrySource {
  readonly kind: BoardEntryKind;
  readonly table: string;
  readonly id: string;
  readonly host: string;
  readonly outcome: string;
  readonly self_dealt: string;
  readonly text: string;
  /** SQL condition under which the row is shown. */
  readonly shown: string;
  /**
   * Words by which the entry is found. Must be the same expression as in `search_words` and in the indexes of the migration BoardSearch.
   */
  readonly words: string;
  /** Path at which the entry is served, before its id. */
  readonly path: string;
}

/**
 * Posts and jobs. An id of either kind is a prefix and the time-ordered name of the stamp's task, so both are sorted together by that name.
 */
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

/** SQL columns of an entry: its members, and its id without the prefix as `name`, by which entries are sorted. */
export function entryColumns({ kind, id, host, outcome, self_dealt, text }: EntrySource): string {
  return `'${kind}' as kind, ${id} as id, substr(${id}, ${kind.length + 2}) as name, posted_at as "postedAt",
    ${host}::text as "endpointHost", ${outcome}::text as outcome, ${self_dealt}::boolean as "selfDealt", ${text} as "untrustedText"`;
}

/** SQL condition for the entries that are older than the entry named $2. True for all entries if $2 is null. */
export function olderThanName({ kind, id }: EntrySource): string {
  return `($2::text is null or ${id} < '${kind}_' || $2)`;
}
