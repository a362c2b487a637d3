import type { JsonObject } from '../../../schema/canonical-json.ts';

const doors: JsonObject = {
  'POST /v1/chat/completions': {
    of: 'choices',
    rule: 'The member choices as it stands in the answer: a list of {index, message: {role, content}, finish_reason}; a finish_reason that is null stands there as null.',
    streamed:
      'A list of one {index: 0, message: {role: "assistant", content}, finish_reason}: content is every delta.content joined in order, finish_reason that of the last chunk which has choices.',
  },
  'POST /a2a-message': { of: 'choices', rule: 'As POST /v1/chat/completions.' },
  'POST /v1/responses': {
    of: 'output',
    rule: 'The member output as it stands in the answer: a list of messages {id, type, role, status, content: [{type, text, annotations}]} and function calls {id, type, status, call_id, name, arguments}.',
  },
  'POST /v1/images/generations': {
    of: 'data',
    rule: 'The member data of the answer, each of its items completed to {b64_json, url, revised_prompt}: null where the answer leaves a member out. Of an image by URL that is the URL, not the picture.',
  },
  'POST /v1/audio/transcriptions': {
    of: '{text, language, duration, segments}',
    rule: 'These four members of the answer and no others (not task): null where the answer leaves one out. Of an answer as plain text, text is the whole body and the others are null.',
  },
  'POST /task-request': {
    of: null,
    rule: 'Nothing: a task comes without its input, so there is no output. status is UNVERIFIED, omission_rule no_input.',
  },
  'POST /task-quote': {
    of: 'forecast',
    rule: 'The member forecast as it stands in the answer.',
  },
  'POST /v1/agents/register': {
    of: null,
    rule: 'Nothing: what was bought is an entry, and its answer holds a secret. status is UNVERIFIED, omission_rule no_output.',
  },
};

/** Why there is no hash. */
const omissions: JsonObject = {
  no_input: 'A task was taken on; nothing was put to anybody yet.',
  no_output: 'What was bought has no output, or none was in hand when the payment was found to have moved.',
  hub_broke_off: 'The hub broke off in a streamed answer; what it had said was delivered.',
  process_ended:
    'This service was stopped or died before the answer had come to its end. The same payment, sent again within a day, has the work done once more.',
};

/**
 * What `fulfillment.output_commitment.hash` is of, door by door, in the spelling of the REST answer. Part of a published
 * policy: what stands here is never changed, only said anew in another version.
 */
export const commitments: JsonObject = {
  hash: 'output_commitment.hash is the SHA-256, as lower-case hex, over the UTF-8 bytes of the canonical JSON (RFC 8785) of the value that the rule of the door names.',
  doors,
  omissions,
};
