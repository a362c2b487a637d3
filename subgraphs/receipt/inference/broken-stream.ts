import { type ErrorCode, Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { BrokenBy, BrokenOff } from '../../answer-end.ts';
import type { ChargedAnswer } from '../../charge-port.ts';
import type { ShowsReceipts } from '../context.ts';

const codes: Readonly<Record<BrokenBy, ErrorCode>> = {
  hub: 'hub_broke_off',
  request: 'hub_broke_off',
  limit: 'stream_cut_off',
  stop: 'stream_cut_off',
};

const causes: Readonly<Record<BrokenBy, string>> = {
  hub: 'The hub ended its answer before it was complete.',
  request: 'The hub refused this request while it was answering.',
  limit: `The answer reached a limit of this service before it was complete: ${limits.hub_stream_ms_max / 1_000} seconds, or ${limits.answer_bytes_max} bytes.`,
  stop: 'This service was stopped before the answer was complete.',
};

type DeliveredAnswer = Pick<ChargedAnswer<never>, 'task_id' | 'reruns_left'>;

/**
 * Error that ends a stream that broke off, after its pieces and its receipt. It says why the answer broke off and what the same payment can
 * still be used for. The hub's message is quoted if it may be passed on; `hub_said` has the code, type and param of the hub's error.
 */
export function brokenStream(
  { task_id, reruns_left = null }: DeliveredAnswer,
  { by, hub_error }: BrokenOff,
  { base_url }: Pick<ShowsReceipts, 'base_url'>,
): Refusal {
  const { message = null, ...hub_said } = hub_error ?? {};
  const quoted = message === null ? [] : [`The hub said: "${message}"${/[.!?]$/.test(message) ? '' : '.'}`];
  const detail = [causes[by], ...quoted, remedy(by, reruns_left)].join(' ');
  const words = Object.entries(hub_said).filter(([, word]) => word !== null);
  return new Refusal(codes[by], {
    detail,
    facts: {
      charged: reruns_left !== null,
      ...(reruns_left === null ? {} : { reruns_left }),
      ...(words.length === 0 ? {} : { hub_said: Object.fromEntries(words) }),
      task_id,
      verify_url: verifyUrl(base_url, task_id),
    },
  });
}

function remedy(by: BrokenBy, reruns_left: number | null): string {
  const { answer_kept_hours: hours, reruns_max } = limits;
  if (reruns_left === null) return 'Nothing was charged. Send the request again as a new one.';
  if (reruns_left > 0)
    return `Send the same request with the same payment within ${hours} hours of that payment: the work is done again without a further charge. A payment allows at most ${reruns_max} such reruns; ${reruns_left} of them ${reruns_left === 1 ? 'is' : 'are'} left.`;
  const again = 'The same payment returns this part of the answer again and no new work';
  return by === 'hub' ? `${again}.` : `${again}. Change the request and send it with a new payment.`;
}
