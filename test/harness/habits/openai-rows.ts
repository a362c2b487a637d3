import type { Rows } from './rows.ts';

export const ANSWER = '"9.8 is greater."';
export const THOUGHT = '[Compare 9.80 with 9.11.]';
/** The answer of a development model that has no habit. */
export const plain = (model: string) =>
  `${JSON.stringify(`This is ${model} on alpha, a development model that thinks nothing. You said: "Which is greater, 9.11 or 9.8?"`)} stop`;
export const FAILED = 'InternalServerError 502 hub_failed ×2';
const GREETING = '"Hello! How can I assist you today?"';

/** Outcome of each habit in OpenAI's client. Clients that are built on it differ little. It retries 429 and 5xx. */
export const openaiRows: Rows = {
  'dev/context-too-long': 'BadRequestError 400 context_length_exceeded',
  'dev/refuses-max-tokens': ['BadRequestError 400 unsupported_parameter', plain('dev/refuses-max-tokens')],
  'dev/context-too-long-flat': ['BadRequestError 400 BadRequestError', 'BadRequestError 400 hub_rejected_request'],
  'dev/flagged': ['PermissionDeniedError 403', 'PermissionDeniedError 403 hub_rejected_content'],
  'dev/content-filtered': 'BadRequestError 400 content_filter',
  'dev/rate-limited': [
    'RateLimitError 429 rate_limit_exceeded ×2 wait 7',
    'RateLimitError 429 hub_rate_limited ×2 wait 7',
  ],
  'dev/out-of-credit': ['RateLimitError 429 insufficient_quota ×2', FAILED],
  'dev/key-refused': ['BadRequestError 400', FAILED],
  'dev/no-balance': ['BadRequestError 400 invalid_request_error', FAILED],
  'dev/overloaded': [
    'InternalServerError 503 server_error ×2 wait 20',
    'InternalServerError 503 hub_overloaded ×2 wait 20',
  ],
  'dev/thinking': `${ANSWER} ${THOUGHT} stop`,
  'dev/thinking-details': `${ANSWER} ${THOUGHT} stop`,
  'dev/thinks-to-the-limit': '"" [Compare 9.80 with] length',
  'dev/empty-finish-reason': { whole: [ANSWER, `${ANSWER} stop`], streamed: `${ANSWER} stop` },
  'dev/only-role': { whole: ['"" stop', FAILED], streamed: ['""', FAILED] },
  'dev/partial-usage': `${ANSWER} stop`,
  'dev/sparse': { whole: [ANSWER, `${ANSWER} stop`], streamed: `${ANSWER} stop` },
  'dev/answers-other': plain('dev/answers-other'),
  'dev/thinks-and-stops': {
    whole: ['"" [Compare 9.80 with] stop', FAILED],
    streamed: ['"" [Compare 9.80 with] stop', 'APIError hub_broke_off'],
  },
  'dev/no-finish-reason': {
    whole: [ANSWER, `${ANSWER} stop`],
    streamed: [ANSWER, `APIError hub_broke_off after ${ANSWER}`],
  },
  'dev/fails-within': {
    whole: ['"9.8 is" error', FAILED],
    streamed: ['APIError server_error after "9.8 is"', 'APIError hub_broke_off after "9.8 is"'],
  },
  'dev/cuts-off': {
    whole: plain('dev/cuts-off'),
    streamed: ['TypeError UND_ERR_SOCKET after "One two "', 'APIError hub_broke_off after "One two "'],
  },
  'dev/ends-with-error-event': {
    whole: plain('dev/ends-with-error-event'),
    streamed: ['APIError server_error after "One two "', 'APIError hub_broke_off after "One two "'],
  },
  'dev/ends-with-bare-error': {
    whole: plain('dev/ends-with-bare-error'),
    streamed: ['APIError server_error after "One two "', 'APIError hub_broke_off after "One two "'],
  },
  'dev/runs-out-of-resources': {
    whole: ['"One two " insufficient_system_resource', FAILED],
    streamed: ['"One two " insufficient_system_resource', 'APIError hub_broke_off after "One two "'],
  },
  'dev/odd-finish-reason': ['"One two " eos', '"One two " stop'],
  'dev/anthropic-finish-reason': {
    whole: [`${GREETING} end_turn`, `${GREETING} stop`],
    streamed: ['"One two " end_turn', '"One two " stop'],
  },
};
