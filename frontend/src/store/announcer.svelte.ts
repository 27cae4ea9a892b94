/** What the polite live region reads out. */
export class Announcer {
  said = $state('');

  say(text: string): void {
    this.said = text;
  }
}
