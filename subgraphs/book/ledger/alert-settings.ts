import { type KeptAlertSettings, settingsInForce } from '../../../schema/book-alerts.ts';
import { canonicalHash, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { AlertsChange } from '../../../schema/requests/alerts.ts';
import { iso } from '../../clock.ts';
import type { Database } from '../../database.ts';
import { appendEvent, lockBooks, storeBooks } from './append.ts';
import { requireChangeRoom } from './change-room.ts';
import { type ChangeAuthor, changeAuthor } from './terms.ts';

/**
 * Sets the alert settings of a book under the head's lock and records the change as an event. Returns the settings as stored, or
 * null if the book does not exist. They are not part of the signed terms. A change that has no effect writes nothing.
 * @throws Refusal book_damaged, rate_limited
 */
export function setAlerts(
  database: Database,
  agent_id: AgentId,
  by: ChangeAuthor,
  change: AlertsChange,
): Promise<KeptAlertSettings | null> {
  return database.transaction(async tx => {
    const head = (await lockBooks(tx, [agent_id])).get(agent_id);
    if (!head) return null;
    if (head.damaged) throw new Refusal('book_damaged');
    const kept = changed(head.alert_settings, change);
    if (canonicalHash(asJson(kept)) === canonicalHash(asJson(head.alert_settings))) return kept;
    await requireChangeRoom(tx, agent_id, 'alerts');
    const body = {
      before: asJson(settingsInForce(head.alert_settings)),
      after: asJson(settingsInForce(kept)),
      by: changeAuthor(by),
    };
    const appended = appendEvent(head, { kind: 'alerts_changed', seq: null, task_id: null, body }, iso(head.now_ms));
    tx.write({
      name: 'set alerts',
      text: 'update book set alert_settings = $2 where agent_id = $1',
      values: [agent_id, kept],
    });
    storeBooks(tx, new Map([[agent_id, appended.head]]), [appended.event]);
    return kept;
  });
}

/** Settings after the change. Null restores a default, and a setting that is left out keeps its value. */
function changed(kept: KeptAlertSettings, change: AlertsChange): KeptAlertSettings {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const all = Object.entries({ ...kept, ...Object.fromEntries(given) });
  return Object.fromEntries(all.filter(([, value]) => value !== null));
}

const asJson = (settings: KeptAlertSettings): JsonObject => present({ ...settings });
