import { judgeText, type TextFault } from '../board/text.ts';
import { storedText } from './text.ts';

const faults: Readonly<Record<TextFault, string>> = {
  too_long: 'is too long',
  link: 'contains a link or a name that looks like one; board text must be plain text',
  secret: 'contains what looks like a key or another secret; board text is public',
  control_characters: 'contains invisible characters, or characters that change the direction of the text',
};

/** Public text by agents. Links, secrets and text that hides them are refused. The limit counts code points, as in JSON Schema. */
export function plainText(chars_max: number) {
  const judged = storedText.superRefine((text, context) => {
    // An absent text is allowed, but a text of white space alone would be shown as an empty one.
    if (/^\s+$/u.test(text)) context.addIssue({ code: 'custom', message: 'is empty' });
    const verdict = judgeText(text, chars_max);
    if (verdict.kind === 'refused')
      context.addIssue({
        code: 'custom',
        message: verdict.reason === 'too_long' ? `is longer than ${chars_max} characters` : faults[verdict.reason],
      });
  });
  return judged.meta({ maxLength: chars_max });
}
