import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../schema/canonical-json.ts';
import { ModelPath } from '../schema/inference/model.ts';
import { namesEachOnce } from '../schema/json-bounds.ts';
import { memberShape } from '../schema/noun-shape.ts';
import { type AudioFormat, audioFormatOf, audioFormats } from '../schema/requests/transcription.ts';

/** An integer in a query or header: digits only, so `1e2`, `0x10` and `01` are invalid. */
export function digits<S extends z.ZodType<number>>(integer: S): z.ZodType<number> {
  return z.preprocess(
    text => (typeof text === 'string' && /^(?:0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text),
    integer,
  );
}

/** The same, also negative. */
export function integerText<S extends z.ZodType<number>>(integer: S): z.ZodType<number> {
  return z.preprocess(
    text => (typeof text === 'string' && /^(?:0|-?[1-9][0-9]{0,14})$/.test(text) ? Number(text) : text),
    integer,
  );
}

/** The members of a noun in a query: integers are digits. An invalid member is refused by name. */
export function queryOf<S extends z.ZodRawShape>(noun: z.ZodObject<S>): z.ZodType<z.output<z.ZodObject<S>>> {
  const members = Object.entries(noun.shape).map(([name, shape]) => [name, inDigits(shape as z.ZodType)]);
  return z.strictObject(Object.fromEntries(members)) as unknown as z.ZodType<z.output<z.ZodObject<S>>>;
}

/**
 * Replaces the schema of a number by the schema of its digits, and keeps its wrappers and their metadata.
 * @throws Error for an unknown wrapper, because its meaning would be lost
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
 * Text in a header. Node decodes each byte as a Latin-1 character, while clients send UTF-8 (RFC 8187 3.2.1); both are the same for ASCII.
 * Invalid UTF-8 is refused, because each reader would show something else.
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
 * Converts the text of a form to the JSON of the same member. A list of one item may have its bare name, and an object may be a part that
 * contains JSON, because clients of OpenAPI 3.1 write lists and objects of multipart content in this way.
 */
const converters = {
  number: text => (/^-?(?:0|[1-9]\d{0,14})(\.\d{1,15})?$/.test(text) ? Number(text) : text),
  flag: text => (text === 'true' ? true : text === 'false' ? false : text),
  list: text => [text],
  object: text => objectIn(text) ?? text,
} as const satisfies Record<string, (text: string) => unknown>;

/** Reads a form as the JSON of `schema`. `kinds`: the members that are not text. */
export function formOf<S extends z.ZodType>(schema: S, kinds: Readonly<Record<string, keyof typeof converters>>) {
  const read = (form: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(form).map(([name, member]) => {
        const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
        if (typeof member === 'string' && kind) return [name, converters[kind](member)];
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

/** Checks every member, because a form can have plain fields with the names of a file's members, and some of them may be missing. */
function isFormFile(member: unknown): member is FormFile {
  if (!isJsonObject(member)) return false;
  return [member.upload, member.name, member.media_type].every(said => typeof said === 'string');
}

/** Audio in a form. Only the format of its name is kept, because the name may identify the caller. */
export const AudioUpload = z
  .custom<FormFile>(isFormFile, { error: 'a file is required' })
  .meta({
    type: 'string',
    contentMediaType: 'application/octet-stream',
    description: `Audio file in one of these formats: ${Object.keys(audioFormats).join(', ')}. The extension of its name tells the format or, if it is none of these, the media type does.`,
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

/** As one escaped segment, or as the rest of the path. */
export const ModelInPath = z.preprocess(
  params => (isJsonObject(params) && '*' in params ? { id: params['*'] } : params),
  ModelPath,
);
