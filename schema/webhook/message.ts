import type { WebhookKind } from './kinds.ts';

/* Names of webhook messages, and the jobs that send them. */

/** The event and the kind of a message. An event may have several messages. */
export interface MessageName {
  readonly agent_id: number;
  readonly position: number;
  readonly kind: WebhookKind;
}

/** Sends the messages of a book that have not been sent. The book itself says which these are. */
export interface BookJob {
  readonly agent_id: number;
}

/** Sends a failed message again. The job has only a name and times, so that it contains nothing of the book. */
export interface MessageJob extends MessageName {
  /** Number of attempts so far. */
  readonly attempts: number;
  /** Time of the first attempt, in milliseconds. */
  readonly since_ms: number;
}

/** Sends the messages of a range of positions again. */
export interface RedeliveryJob {
  readonly agent_id: number;
  /** Id of the request, so that no other job replaces it. */
  readonly id: string;
  readonly from_position: number;
  readonly to_position: number;
  /** Time of the request, in milliseconds. */
  readonly since_ms: number;
}

export interface PingJob {
  readonly agent_id: number;
  readonly id: string;
}

/** Header `webhook-id`. It is the same for each attempt and redelivery, so that a receiver can drop repeated messages. */
export function messageId({ agent_id, position, kind }: MessageName): string {
  return `msg_${agent_id}_${position}_${kind}`;
}
