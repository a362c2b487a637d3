import { isJsonObject, type Json, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { type KeptTranscription, taskOf } from '../inference/audio/transcription.paid.ts';
import { canonicalData } from '../inference/embeddings/vectors.ts';

/**
 * A kept answer in the words of the wire, so that what the receipt commits to can be hashed again. A call by key keeps no field beside its
 * answer, so the form is known by its members: only vectors have `vectors`, only an image has `data`, and only a transcription has `text`.
 */
export function wireAnswer(kept: JsonObject): JsonObject {
  const { vectors, ...others } = kept;
  if (Array.isArray(vectors))
    return { object: 'list', data: JSON.parse(canonicalData(vectors as string[])) as Json, ...others };
  const { data, text } = kept;
  // Nulls are on the wire in neither an image nor a transcription.
  if (Array.isArray(data)) return { ...kept, data: data.map(item => (isJsonObject(item) ? present(item) : item)) };
  if (typeof text === 'string') return present({ ...kept, task: taskOf(kept as KeptTranscription) });
  return kept;
}
