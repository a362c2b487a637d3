import { createHash, randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../schema/canonical-json.ts';

/** A file with its hash. An answer that contains its length and hash proves that the file was read. */
export interface Audio {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly sha256: string;
}

export function audio(content: string | number = 'RIFF, and so on'): Audio {
  const bytes = Buffer.from(typeof content === 'string' ? Buffer.from(content) : randomBytes(content));
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/** The test hub's transcript of an audio file. */
export const transcriptOf = ({ bytes, sha256 }: Audio, format = 'wav') =>
  `heard ${bytes.length} bytes of audio.${format}: ${sha256}.`;

/** A request for a transcription, as any client sends it. `file: null` leaves the file out. */
export function audioForm(
  { file = audio(), name = 'speech.wav', type = 'audio/wav', ...fields }: AudioFields = {},
  form = new FormData(),
): FormData {
  if (file) form.append('file', new File([file.bytes], name, { type }));
  for (const [member, value] of Object.entries(fields)) form.append(member, String(value));
  return form;
}

export type AudioFields = {
  readonly file?: Audio | null;
  readonly name?: string;
  readonly type?: string;
} & { readonly [field: string]: unknown };

/** A form made from members. Each value of `file_of` gives another file. */
export function audioFormOf({ file_of, ...fields }: JsonObject): FormData {
  return audioForm({ file: audio(String(file_of)), ...fields });
}
