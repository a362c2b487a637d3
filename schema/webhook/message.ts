import type { WebhookKind } from './kinds.ts';

/* What names a message of a webhook, and the jobs by which messages are on their way. */

/** The event that it tells of, and by which word: an event may have several messages. */
export interface MessageName {
  readonly agent_id: number;
  readonly position: number;
  readonly kind: WebhookKind;
}

/** What a book has not told its webhook yet is sent: which messages those are the book itself says. */
export interface BookJob {
  readonly agent_id: number;
}

/** One that failed is sent again: a name and times, so that a job holds nothing of a book. */
export interface MessageJob extends MessageName {
  /** That were made. */
  readonly attempts: number;
  /** When it was first sent, in milliseconds. */
  readonly since_ms: number;
}

/** What a webhook is told of from one position to another is sent again. */
export interface RedeliveryJob {
  readonly agent_id: number;
  /** Of what was asked for: no other takes its place. */
  readonly id: string;
  readonly from_position: number;
  readonly to_position: number;
  /** When it was asked for, in milliseconds. */
  readonly since_ms: number;
}

export interface PingJob {
  readonly agent_id: number;
  readonly id: string;
}

/** Header webhook-id, the same for each attempt and each redelivery: whoever has seen it has had the message. */
export function messageId({ agent_id, position, kind }: MessageName): string {
  return `msg_${agent_id}_${position}_${kind}`;
}
