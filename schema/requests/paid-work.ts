import { z } from 'zod';
import { limits } from '../limits.ts';
import { storedText } from './text.ts';

/**
 * What a body of paid work asks of us, beside what it asks of a model; spread into the schema of each such body. Only
 * what differs from the usual is kept, so that a call that says nothing and one that says the usual are one call.
 */
export const svcMembers = {
  svc: z
    .strictObject({
      failover: z.boolean().nullish().describe('False: fail rather than ask another hub or another model.'),
    })
    .nullish()
    .transform(given => (given?.failover === false ? { failover: false } : undefined)),
} as const;

/** As it is kept. */
export interface SvcOptions {
  readonly svc?: { readonly failover: boolean } | undefined;
}

export const IntentId = storedText.min(1).max(limits.intent_id_chars_max).nullable().default(null);

export const AttemptIndex = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

/** The task of a row: ours, or one that the book's owner has named. */
export const ParentRef = storedText.min(1).max(limits.row_name_chars_max);

/** What a body of paid work says of the treasury's intent it serves; spread into the schema of each such body. */
export const intentMembers = {
  intent_id: IntentId.describe('Groups attempts under one treasury intent bill. Also header X-SVC-Intent.'),
  attempt_index: AttemptIndex.nullable()
    .default(null)
    .describe('Zero-based attempt within intent_id. Also header X-SVC-Attempt.'),
  parent_ref: ParentRef.nullish()
    .transform(given => given ?? undefined)
    .optional()
    .describe('The task of the row that this call follows from, on the same book. Also header X-SVC-Parent.'),
} as const;

export interface Intent {
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  readonly parent_ref?: string | undefined;
}

/** The `intent` of a paid field whose arguments carry it. */
export function intentOf({ intent_id, attempt_index, parent_ref }: Intent): NamedIntent {
  return { intent_id, attempt_index, parent_ref: parent_ref ?? null };
}

/** The same with each member there, as it is kept. */
export interface NamedIntent {
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  readonly parent_ref: string | null;
}

/** A call that follows from none has no such member, so that it is the call that it was before there was one. */
export function withParent({ parent_ref }: Pick<Intent, 'parent_ref'>): Pick<Intent, 'parent_ref'> {
  return parent_ref === undefined ? {} : { parent_ref };
}
