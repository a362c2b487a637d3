import { isJsonObject, type JsonObject, present } from '../../schema/canonical-json.ts';
import { limits } from '../../schema/limits.ts';
import { ImageRequest } from '../../schema/requests/image-generation.ts';
import { transcriptionWith } from '../../schema/requests/transcription.ts';
import { operation } from '../document.ts';
import { documentDoor } from '../door.ts';
import { AudioUpload, formOf } from '../form-members.ts';
import { ImageAnswer, TranscriptionAnswer } from './media-answers.ts';
import { inputOf, paidWork } from './paid-work.ts';

const refusals = ['unknown_model', 'policy_blocked', 'budget_exhausted', 'hub_failed'] as const;

export const mediaDoors = [
  documentDoor({
    ...paidWork,
    name: 'generate_image',
    path: '/v1/images/generations',
    summary: 'One image with a signed spend receipt',
    document: operation('inference/generate_image'),
    body: ImageRequest,
    variables: inputOf,
    nulls: { data: [] },
    response: ImageAnswer,
    errors: refusals,
  }),
  documentDoor({
    ...paidWork,
    name: 'transcribe_audio',
    path: '/v1/audio/transcriptions',
    summary: 'The text of what is spoken in a file, with a signed spend receipt',
    document: operation('inference/transcribe_audio'),
    takes: 'multipart/form-data',
    body_bytes_max: limits.upload_form_bytes_max,
    body: formOf(transcriptionWith(AudioUpload), {
      temperature: 'number',
      attempt_index: 'number',
      stream: 'flag',
      failover: 'flag',
      timestamp_granularities: 'list',
      svc: 'object',
    }),
    variables: inputOf,
    plain: {
      asked: ({ response_format }) => response_format === 'text',
      media: 'text/plain; charset=utf-8',
      textOf: data => String(memberOf(data, 'text')),
    },
    answer: ({ answer }) => (isJsonObject(answer) ? present(answer) : null),
    response: TranscriptionAnswer,
    errors: [...refusals, 'upload_unknown'],
  }),
] as const;

function memberOf({ answer }: JsonObject, name: string) {
  return isJsonObject(answer) ? answer[name] : '';
}
