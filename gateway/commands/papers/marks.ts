/** Puts `text` between `<!-- name -->` and `<!-- /name -->`, each on a line of its own; a page without them stays as it is. */
export function betweenMarks(page: string, name: string, text: string): string {
  const place = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
  return page.replace(place, (_, open, close) => `${open}${text}\n${close}`);
}
