import { z } from 'zod';
import { INT_MAX, limits } from '../limits.ts';
import { AUTO_MODEL } from '../route-words.ts';
import { storedText, wellFormedText } from './text.ts';

/*
 * What every body of paid work may say beside what it asks of a model; each schema of such a body spreads these members, and with them
 * each input of the graph has them.
 */

export const ModelId = wellFormedText
  .max(limits.model_id_chars_max)
  .nullish()
  .transform(model => model ?? AUTO_MODEL)
  .meta({ argument: z.string().default(AUTO_MODEL) })
  .describe('Model id of the catalogue. Default: `svc/auto`, which lets the service choose.');

export const SvcOptionsNoun = z.strictObject({
  failover: z.boolean().nullish().describe('False: fail rather than ask another hub or another model. Default: true.'),
});

/** Only what differs from the usual is kept, so that a call that says nothing and one that says the usual are one call. */
export const svcMembers = {
  svc: SvcOptionsNoun.nullish()
    .transform(given => (given?.failover === false ? { failover: false } : undefined))
    .describe('Options of this service, beside what is asked of the model.'),
} as const;

/** As it is kept. */
export interface SvcOptions {
  readonly svc?: { readonly failover: boolean } | undefined;
}

export const IntentId = storedText.min(1).max(limits.intent_id_chars_max).nullable().default(null);

export const AttemptIndex = z.int().min(0).max(INT_MAX);

/** The task of a row: ours, or one that the book's owner has named. */
export const ParentRef = storedText.min(1).max(limits.row_name_chars_max);

/** What a body of paid work says of the treasury's intent it serves. */
export const intentMembers = {
  intent_id: IntentId.describe(
    'Groups attempts under one treasury intent bill. Default: none. By REST also header X-SVC-Intent.',
  ),
  attempt_index: AttemptIndex.nullable()
    .default(null)
    .describe('Zero-based attempt within intent_id. Default: none. By REST also header X-SVC-Attempt.'),
  parent_ref: ParentRef.nullish()
    .transform(given => given ?? undefined)
    .optional()
    .describe(
      'Task of the row that this call follows from, on the book that the call lands on; any other is 403. Default: none. By REST also header X-SVC-Parent.',
    ),
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
