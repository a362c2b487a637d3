import type { WebhookReach } from '../../schema/webhook/url.ts';
import { forgetOldDeadLetters } from '../../subgraphs/book/webhook/record-attempt.ts';
import { queueUnsentMessages } from '../../subgraphs/book/webhook/unsent-messages.ts';
import { systemClock, systemRandom } from '../../subgraphs/clock.ts';
import type { Database } from '../../subgraphs/database.ts';
import type { Vault } from '../../subgraphs/vault.ts';
import type { PeriodicTask, Tasks } from '../jobs/task.ts';
import type { Metrics } from '../operations/metrics.ts';
import { bookTask, redeliveryTask } from './book-messages.ts';
import { type DeliveryOutcome, messageTask, pingTask } from './deliver.ts';
import { Lanes } from './lanes.ts';
import { openResolve, systemResolve } from './look-up.ts';

/**
 * Number of places in each lane. Together they are fewer than the jobs that may run at once, so that a job is always free for a
 * prompt receiver.
 */
const SIZES = { prompt: 32, untried: 12, slow: 12 } as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export interface WebhookParts {
  readonly database: Database;
  readonly vault: Vault;
  readonly reach: WebhookReach;
  readonly base_url: string;
  readonly metrics: Pick<Metrics, 'webhooks'>;
}

/** Tasks and periodic jobs of webhooks. */
export function openWebhooks({ database, vault, reach, base_url, metrics }: WebhookParts): {
  readonly tasks: Tasks;
  readonly periodic: readonly PeriodicTask[];
} {
  const parts = {
    vault,
    reach,
    base_url,
    clock: systemClock,
    random: systemRandom,
    lanes: new Lanes(SIZES),
    resolve: reach === 'local' ? systemResolve : openResolve(),
    onOutcome: (outcome: DeliveryOutcome) => metrics.webhooks.inc({ outcome }),
  };
  return {
    tasks: {
      'webhook/book': bookTask(parts),
      'webhook/message': messageTask(parts),
      'webhook/redelivery': redeliveryTask(parts),
      'webhook/ping': pingTask(parts),
    },
    periodic: [
      { name: 'webhooks untold', rest_ms: MINUTE_MS, run: () => queueUnsentMessages(database).then(() => undefined) },
      {
        name: 'webhook_dead_letters',
        rest_ms: HOUR_MS,
        run: () => forgetOldDeadLetters(database).then(() => undefined),
      },
    ],
  };
}
