import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../schema/canonical-json.ts';
import { ModelPath } from '../schema/inference/model.ts';
import { namesEachOnce } from '../schema/json-bounds.ts';
import { memberShape } from '../schema/noun-shape.ts';
import { type AudioFormat, audioFormatOf, audioFormats } from '../schema/requests/transcription.ts';

/** An integer that travels as text, in a query or a header: digits only, so that `1e2`, `0x10` and `01` are none. */
export function digits<S extends z.ZodType<number>>(integer: S): z.ZodType<number> {
  return z.preprocess(
    text => (typeof text === 'string' && /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text),
    integer,
  );
}

/** The same, which may be below zero. */
export function integerText<S extends z.ZodType<number>>(integer: S): z.ZodType<number> {
  return z.preprocess(
    text => (typeof text === 'string' && /^(?:0|-?[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text),
    integer,
  );
}

/** The members of a noun as a query says them: whole numbers in digits. A member that is none of them is refused by its name. */
export function queryOf<S extends z.ZodRawShape>(noun: z.ZodObject<S>): z.ZodType<z.output<z.ZodObject<S>>> {
  const members = Object.entries(noun.shape).map(([name, shape]) => [name, inDigits(shape as z.ZodType)]);
  return z.strictObject(Object.fromEntries(members)) as unknown as z.ZodType<z.output<z.ZodObject<S>>>;
}

/**
 * Digits in place of a number, within what wraps it and with what is said of that.
 * @throws Error where it is wrapped otherwise: what the wrapper means would be lost
 */
function inDigits(shape: z.ZodType): z.ZodType {
  if (memberShape(shape).list || !(memberShape(shape).inner instanceof z.ZodNumber)) return shape;
  return inDigitsWithin(shape).meta(z.globalRegistry.get(shape) ?? {});
}

function inDigitsWithin(shape: z.ZodType): z.ZodType {
  if (shape instanceof z.ZodOptional) return inDigits(shape.unwrap() as z.ZodType).optional();
  if (shape instanceof z.ZodPipe) return z.pipe(inDigits(shape.in as z.ZodType), shape.out);
  if (shape instanceof z.ZodNumber) return digits(shape);
  throw new Error(`a number of a query cannot be within a ${shape.def.type}`);
}

/**
 * Text in a header. Node reads each byte as a character of Latin-1, and what is sent is UTF-8 (RFC 8187 3.2.1): both are the same for
 * ASCII. Bytes that are no UTF-8 are refused: each reader would show them as something else.
 */
export function headerText<S extends z.ZodType>(schema: S) {
  return z.preprocess((sent, context) => {
    if (typeof sent !== 'string' || !/[\x80-\xff]/.test(sent) || /[^\0-\xff]/.test(sent)) return sent;
    try {
      return utf8.decode(Buffer.from(sent, 'latin1'));
    } catch {
      context.addIssue({ code: 'custom', message: 'is not UTF-8' });
      return z.NEVER;
    }
  }, schema);
}
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * A form says all in text: what the same member is in JSON. A list of one may be told of by its bare name, and an object by
 * a part that holds JSON: OpenAPI 3.1 has clients write so what a description of multipart content calls list and object.
 */
const spelt = {
  number: text => (/^-?(?:0|[1-9]\d{0,14})(\.\d{1,15})?$/.test(text) ? Number(text) : text),
  flag: text => (text === 'true' ? true : text === 'false' ? false : text),
  list: text => [text],
  object: text => objectIn(text) ?? text,
} as const satisfies Record<string, (text: string) => unknown>;

/** Reads a form as the JSON that `schema` is written for; `kinds` names the members that are no text, wherever they stand. */
export function formOf<S extends z.ZodType>(schema: S, kinds: Readonly<Record<string, keyof typeof spelt>>) {
  const read = (form: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(form).map(([name, member]) => {
        const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
        if (typeof member === 'string' && kind) return [name, spelt[kind](member)];
        return [name, isJsonObject(member) ? read(member) : member];
      }),
    );
  return z.preprocess(form => (isJsonObject(form) ? read(form) : form), schema);
}

function objectIn(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) && namesEachOnce(Buffer.from(text), value) ? value : null;
  } catch {
    return null;
  }
}

interface FormFile {
  readonly upload: string;
  readonly name: string;
  readonly media_type: string;
}

/** Fields may be called as the members of a file are: one made of them is no file, and may lack some. */
function isFormFile(member: unknown): member is FormFile {
  if (!isJsonObject(member)) return false;
  return [member.upload, member.name, member.media_type].every(said => typeof said === 'string');
}

/** Audio in a form. Of its name the format is kept, and nothing else: a name may say who calls. */
export const AudioUpload = z
  .custom<FormFile>(isFormFile, { error: 'a file is required' })
  .meta({
    type: 'string',
    contentMediaType: 'application/octet-stream',
    description: 'Audio file. The format is taken from the extension of its name.',
  })
  .transform(({ upload, name, media_type }, context): { upload: string; format: AudioFormat } => {
    const format = audioFormatOf(name, media_type);
    if (format !== null) return { upload, format };
    context.addIssue({
      code: 'custom',
      message: `the file name must end with ${Object.keys(audioFormats).join(', ')}`,
    });
    return z.NEVER;
  });

/** As one segment, escaped, or as all that is left of the path. */
export const ModelInPath = z.preprocess(
  params => (isJsonObject(params) && '*' in params ? { id: params['*'] } : params),
  ModelPath,
);
