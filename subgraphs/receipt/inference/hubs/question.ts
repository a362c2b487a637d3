import type { Modality } from '../catalogue.ts';

/** What a hub is asked in one piece, whichever model of it answers. Built once for every hub that is asked in turn. */
export interface Question<T extends object> {
  readonly modality: Modality;
  /** Under the hub's base URL. */
  readonly path: `/${string}`;
  /** Where an answer may be larger than others. */
  readonly answer_bytes_max?: number;
  /** Built from known members only: nothing of the caller's may slip through. `reasons`: it takes `reasoning_effort`. */
  body(model: string, reasons: boolean): QuestionBody;
  /** What of the answer is passed on, checked and copied member by member; null where it is not what was asked for. */
  read(answer: Buffer): T | null;
}

export interface QuestionBody {
  readonly content_type: string;
  readonly bytes: string | Buffer;
}
