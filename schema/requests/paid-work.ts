import { z } from 'zod';
import { INT_MAX, limits } from '../limits.ts';
import { AUTO_MODEL } from '../route-words.ts';
import { storedText, wellFormedText } from './text.ts';

/*
 * Members that every body of paid work may have in addition to its request to a model. The schema of each such body, and therefore each
 * input of the graph, includes them.
 */

export const ModelId = wellFormedText
  .max(limits.model_id_chars_max)
  .nullish()
  .transform(model => model ?? AUTO_MODEL)
  .meta({ argument: z.string().default(AUTO_MODEL) })
  .describe('Model id of the catalogue. Default: `svc/auto`, which lets the service choose.');

export const SvcOptionsNoun = z.strictObject({
  failover: z
    .boolean()
    .nullish()
    .describe('If false, the call fails if its hub fails, and no other hub or model is tried. Default: true.'),
});

/** Only values other than the default are kept, so that a call without options and one with the default options are the same call. */
export const svcMembers = {
  svc: SvcOptionsNoun.nullish()
    .transform(given => (given?.failover === false ? { failover: false } : undefined))
    .describe(
      'Options of this service: with `{failover: false}`, the call fails if its hub fails. Default: another hub is asked.',
    ),
} as const;

/** The options as they are stored. */
export interface SvcOptions {
  readonly svc?: { readonly failover: boolean } | undefined;
}

export const IntentId = storedText.min(1).max(limits.intent_id_chars_max).nullable().default(null);

export const AttemptIndex = z.int().min(0).max(INT_MAX);

/** Task id of a row, assigned by this service or by the owner of the book. */
export const ParentRef = storedText.min(1).max(limits.row_name_chars_max);

/** The intent that paid work belongs to. */
export const intentMembers = {
  intent_id: IntentId.describe(
    `Id of an intent (up to ${limits.intent_id_chars_max} characters), which groups attempts at the same work. Default: none. By REST also header X-SVC-Intent.`,
  ),
  attempt_index: AttemptIndex.nullable()
    .default(null)
    .describe('Number of the attempt at the intent, from 0. Default: none. By REST also header X-SVC-Attempt.'),
  parent_ref: ParentRef.nullish()
    .transform(given => given ?? undefined)
    .optional()
    .describe(
      'Task id of the row that this call follows from. The row must be on the book that records the call; any other task id is refused with 403. Default: none. By REST also header X-SVC-Parent.',
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

/** The same with all members, as it is stored. */
export interface NamedIntent {
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  readonly parent_ref: string | null;
}

/** Without a parent the member is left out, so that the canonical form of such a call is the one that it had before the member existed. */
export function withParent({ parent_ref }: Pick<Intent, 'parent_ref'>): Pick<Intent, 'parent_ref'> {
  return parent_ref === undefined ? {} : { parent_ref };
}
