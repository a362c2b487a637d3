import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { type Invalid, judgeBy, type Rule, unless } from './signed-document.ts';

/**
 * Checks an audit pack, which is never valid by itself: only the signature of a published export can cover it. The check is made because a
 * pack that contradicts itself is certainly wrong.
 */
export function verifyAuditPack(document: JsonObject): Invalid {
  const judged = judgeBy(rules, document);
  if (judged.kind === 'invalid') return judged;
  return {
    kind: 'invalid',
    code: 'not_signed',
    sentence:
      'An audit pack is not signed: verify the published export of the book (GET /public/export/{slug}), or each receipt at its verify_url.',
    checks: judged.checks,
  };
}

const rowsOf = ({ rows }: JsonObject): readonly JsonObject[] => (Array.isArray(rows) ? rows.filter(isJsonObject) : []);

/** Rules in the order in which they are checked: each may rely on all before it. */
const rules: readonly Rule<JsonObject>[] = [
  {
    code: 'rows_miscounted',
    says: 'The pack has as many rows as its row_count says.',
    fault: document =>
      unless(rowsOf(document).length === document.row_count, 'The number of rows differs from the stated row_count.'),
  },
  {
    code: 'rows_repeated',
    says: 'Each task has only one row.',
    fault: document => {
      const tasks = rowsOf(document).map(({ task_id }) => task_id);
      return unless(new Set(tasks).size === tasks.length, 'A task has more than one row.');
    },
  },
];
