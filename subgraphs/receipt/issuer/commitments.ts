import type { JsonObject } from '../../../schema/canonical-json.ts';

const doors = {
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
} satisfies JsonObject;

/** Reasons why a receipt has no hash of an output. */
const omissions: JsonObject = {
  no_input: 'A task was taken on; nothing was put to anybody yet.',
  no_output: 'What was bought has no output, or none was in hand when the payment was found to have moved.',
  hub_broke_off: 'The hub broke off in a streamed answer; what it had said was delivered.',
  process_ended:
    'This service was stopped or died before the answer had come to its end. The same payment, sent again within a day, has the work done once more.',
};

/**
 * What `fulfillment.output_commitment.hash` covers, by endpoint, in the spelling of the REST answer. It is part of a published policy, so
 * it must never change: a new version of the policy replaces it.
 */
export const commitments = {
  hash: 'output_commitment.hash is the SHA-256, as lower-case hex, over the UTF-8 bytes of the canonical JSON (RFC 8785) of the value that the rule of the door names.',
  doors,
  omissions,
} satisfies JsonObject;

const MESSAGE =
  'Where the message of the answer has tool_calls or a refusal: that message as it stands in the answer, {role, content, tool_calls?, refusal?}, content null where nothing is said.';
const ASSEMBLED =
  'Assembled from the deltas: role is "assistant"; content is every delta.content joined in order, null where that is empty; tool_calls is a list in the order of index, each {id, type, function: {name, arguments}} with id, type and name as they come first and every function.arguments joined in order; refusal is every delta.refusal joined; tool_calls and refusal are left out where no delta has them.';

/** Adds answers that call tools, or that refuse. */
export const commitmentsWithCalls = {
  ...commitments,
  doors: {
    ...doors,
    'POST /v1/chat/completions': {
      of: 'choices',
      rule: `${doors['POST /v1/chat/completions'].rule} ${MESSAGE}`,
      streamed: `${doors['POST /v1/chat/completions'].streamed} ${MESSAGE} ${ASSEMBLED}`,
      of_calls: 'choices[0].message',
    },
    'POST /v1/responses': {
      of: 'output',
      rule: 'The member output as it stands in the answer: a list of messages {id, type, role, status, content: [{type: "output_text", text, annotations} or {type: "refusal", refusal}]} and function calls {id, type, status, call_id, name, arguments}.',
      streamed: 'The member output of the response in the event response.completed or response.failed.',
    },
  },
} satisfies JsonObject;

/** Changes two rules so that the answer itself contains everything that is hashed, and no member has to be completed. */
export const commitmentsAsAnswered = {
  ...commitmentsWithCalls,
  doors: {
    ...commitmentsWithCalls.doors,
    'POST /v1/images/generations': {
      of: 'data',
      rule: 'The member data as it stands in the answer. Of an image by URL that is the URL, not the picture.',
    },
    'POST /v1/audio/transcriptions': {
      of: 'all but svc',
      rule: 'The answer as it stands there, without its member svc. Of an answer as plain text: {text}, where text is the whole body.',
    },
  },
} satisfies JsonObject;

/** Adds what the recorder of a payment to another party states about the purchase. */
export const commitmentsOfIngests = {
  ...commitmentsAsAnswered,
  doors: {
    ...commitmentsAsAnswered.doors,
    'POST /v1/agents/{agent_id}/book/ingest': {
      of: null,
      rule: 'Nothing of an answer of this service. Of the stamp status is UNVERIFIED. Of the payment that was recorded it is what its payer has said: a hash of the kind that they name, or the SHA-256 of the UTF-8 bytes of the deliverable that they showed; else UNVERIFIED. The issuer has not seen what was delivered.',
    },
  },
} satisfies JsonObject;

const OF_A_STAMP =
  'Nothing: what is written on the board is no answer of the issuer, who neither wrote nor judged it. Status is UNVERIFIED.';

/** Adds what is written on the board, and jobs that are paid for there. */
export const commitmentsOfBoard = {
  ...commitmentsOfIngests,
  doors: {
    ...commitmentsOfIngests.doors,
    'POST /v1/board/posts': { of: null, rule: OF_A_STAMP },
    'POST /v1/board/posts/{id}/comments': { of: null, rule: OF_A_STAMP },
    'POST /v1/board/posts/{id}/flag': { of: null, rule: OF_A_STAMP },
    'POST /v1/board/posts/{id}/comments/{commentId}/flag': { of: null, rule: OF_A_STAMP },
    'POST /v1/board/jobs': { of: null, rule: OF_A_STAMP },
    'POST /v1/board/jobs/{id}/bid': { of: null, rule: OF_A_STAMP },
    'POST /v1/board/jobs/{id}/pay': {
      of: null,
      rule: 'Of the fee, status is UNVERIFIED. Of the payment to the winner hash is the output_sha256 that the winner named when the job was delivered: the SHA-256 of the bytes of the output. The issuer had not seen the output as it signed; a job is closed once what was revealed has that hash.',
    },
  },
} satisfies JsonObject;

/** Rule for `output_commitment.covers`. In versions 1 to 8, readers had to conclude from the endpoint which members the hash covers. */
const COVERS =
  'output_commitment.covers lists the names of the members that the hash covers: of a value that is an object, the names of all its members, sorted; of a value that is a list, the one name of the member of the answer that is that list. It is left out where status is UNVERIFIED, and where by is winner or reporter.';

const CHAT_VALUE =
  'Where the message of the first choice is text and has no other members than role and content: the member choices as it stands in the answer, a list of {index, message: {role, content}, finish_reason}. Otherwise the message of the first choice as it stands in the answer, with all its members: role, content (null where nothing is said), tool_calls, refusal, and the reasoning as the hub gave it (reasoning_content, reasoning, reasoning_details).';

const BROKE_OFF =
  'The hub broke off in a streamed answer, or refused the request in the midst of it, or the answer reached a limit of this service; what had come of it was delivered. Where the hub broke off, the same payment, sent again within a day, has the work done once more, at most three times. After a refusal of the request and after a limit it has not: it brings the same part again. The receipt stays as it was signed.';

/**
 * Adds to `before` the rules for answers with reasoning, messages and embeddings, and the rule that each receipt lists the members that its
 * hash covers.
 */
export function commitmentsThatCover(
  before: { readonly doors: JsonObject; readonly omissions: JsonObject } & JsonObject,
) {
  return {
    ...before,
    covers: COVERS,
    omissions: { ...before.omissions, hub_broke_off: BROKE_OFF },
    doors: {
      ...before.doors,
      'POST /v1/chat/completions': {
        of: 'choices',
        of_calls: 'choices[0].message',
        rule: CHAT_VALUE,
        streamed:
          'The same of what the deltas add up to: a text member is every delta of it joined in order, tool_calls a list in the order of index, finish_reason that of the last chunk which has choices; reasoning_details is the entries of all deltas in order, where a reasoning.text or reasoning.summary with the type and index of the entry before it continues that one: its text or summary is joined, and each other member is the last one that is not null. A member that no delta has is left out, and content is null where it is empty and another member is there.',
      },
      'POST /v1/responses': {
        of: 'output',
        rule: 'The member output as it stands in the answer: a list of reasoning items, messages and function calls, each with all its members.',
        streamed:
          'The member output of the response in the event that ends the stream: response.completed, response.incomplete or response.failed.',
      },
      'POST /v1/messages': {
        of: 'content',
        rule: 'The member content as it stands in the answer: a list of blocks, each with all its members.',
        streamed: 'The list of the blocks that the events add up to.',
      },
      'POST /v1/embeddings': {
        of: 'data',
        rule: 'The member data as it stands in the answer: a list of {object, index, embedding}, each embedding in the form in which it went out, a list of numbers or a text in base64.',
      },
    },
  } satisfies JsonObject;
}

/** Adds flags of jobs, which are paid for like flags of posts. */
export const commitmentsOfJobFlags = {
  'POST /v1/board/jobs/{id}/flag': { of: null, rule: OF_A_STAMP },
} satisfies JsonObject;
