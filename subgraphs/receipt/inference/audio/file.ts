import { sha256Hex } from '../../../../schema/digest.ts';
import { Refusal } from '../../../../schema/errors.ts';
import type { TranscriptionRequest } from '../../../../schema/requests/transcription.ts';
import type { OpenedUpload, Uploads } from '../../../uploads.ts';

/** The audio of a request, by whichever way it came. @throws upload_unknown, before any claim */
export function audioOf({ upload, base64 }: TranscriptionRequest['file'], uploads: Uploads): OpenedUpload {
  if (base64) {
    const bytes = Buffer.from(base64, 'base64');
    return { bytes, sha256: sha256Hex(bytes), release: () => {} };
  }
  const opened = uploads.open(upload ?? '');
  if (opened === null) throw new Refusal('upload_unknown', { param: 'file' });
  return opened;
}
