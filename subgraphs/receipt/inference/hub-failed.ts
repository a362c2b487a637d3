import type { JsonObject } from '../../../schema/canonical-json.ts';
import { type ErrorCode, errors, Refusal } from '../../../schema/errors.ts';
import type { HubError } from '../../answer-end.ts';
import { ROUTER } from './catalogue.ts';
import type { HubAttempt } from './hubs/open.ts';
import type { RequestStatus } from './hubs/verdict.ts';

/* The error for a call that no hub answered, which shows whether the caller or a hub is at fault. */

/** Error for a call that no hub answered. Nothing was charged, and the payment stays usable. */
export class HubFailed extends Refusal {
  /** Part of the call that is at fault: the request, or its router key. Null if neither is known to be at fault. */
  readonly by_caller: 'request' | 'router_key' | null;
  /** Whether the hubs accept no more requests for now. */
  readonly crowded: boolean;

  constructor(attempts: readonly HubAttempt[]) {
    const answer = answerOf(attempts);
    super(answer.code, {
      detail: answer.detail,
      facts: { charged: false, attempts: attempts.map(({ hub, reason }) => ({ hub, reason })), ...answer.facts },
    });
    const refused_by_router = attempts.length > 0 && attempts.every(isRefusedByRouter);
    this.by_caller = answer.by_caller ?? (refused_by_router ? 'router_key' : null);
    this.crowded = answer.crowded ?? false;
  }
}

/** A 4xx is the caller's fault (RFC 9110 §15.5), except 408, which means that the router was slow, and 429. */
function isRefusedByRouter({ hub, reason }: HubAttempt): boolean {
  return hub === ROUTER && /^status_4\d\d$/.test(reason) && reason !== 'status_408' && reason !== 'status_429';
}

interface HubFailedAnswer {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly facts?: JsonObject;
  readonly by_caller?: 'request' | 'router_key';
  readonly crowded?: true;
}

const requestCodes = {
  400: 'hub_rejected_request',
  403: 'hub_rejected_content',
  413: 'hub_request_too_large',
  422: 'hub_unprocessable_request',
} as const satisfies Record<RequestStatus, ErrorCode>;

/** Error of a call. A verdict on its request or router key takes precedence over hubs that accept no more requests for now. */
function answerOf(attempts: readonly HubAttempt[]): HubFailedAnswer {
  const verdicts = attempts.flatMap(({ verdict }) => verdict ?? []);
  const judged = verdicts.find(({ kind }) => kind !== 'crowded');
  if (judged?.kind === 'too_large')
    return { code: 'answer_too_large', detail: judged.detail, facts: { param: judged.param }, by_caller: 'request' };
  if (judged?.kind === 'request') {
    const code = requestCodes[judged.status];
    return { ...refusedBy(code, judged.error), by_caller: 'request' };
  }
  if (judged?.kind === 'key') {
    const { error, hub_status } = judged;
    // A 402 of the router is reported as `router_refused` too, because an x402 client would take it for our own price and pay again.
    const { facts, ...said } = refusedBy(hub_status === 401 ? 'router_key_invalid' : 'router_refused', error);
    return { ...said, facts: { ...facts, hub_status }, by_caller: 'router_key' };
  }
  const crowded = verdicts.filter(verdict => verdict.kind === 'crowded');
  const [first] = crowded;
  if (first === undefined)
    return {
      code: 'hub_failed',
      detail: 'No hub answered. Try again later. Nothing was charged; the payment stays usable.',
    };
  const waits = crowded.flatMap(({ retry_after_seconds }) => retry_after_seconds ?? []);
  const code = crowded.some(({ status }) => status === 429) ? 'hub_rate_limited' : 'hub_overloaded';
  return {
    code,
    detail: `${errors[code][1]} Nothing was charged; the payment stays usable.`,
    facts: waits.length === 0 ? {} : { retry_after_seconds: Math.min(...waits) },
    crowded: true,
  };
}

function refusedBy(code: ErrorCode, { message, ...words }: HubError) {
  return { code, detail: message ?? errors[code][1], facts: { hub_error: words } };
}
