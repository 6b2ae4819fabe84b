"""Java and Kotlin: Maven and Gradle, by their wrappers where the repository has them."""

from forge_bot.knowledge.file_list import Listing
from forge_bot.knowledge.project_commands_of import Commands, Found, command

_GRADLE_FILES = ("settings.gradle.kts", "settings.gradle", "build.gradle.kts", "build.gradle")


def find(listing: Listing) -> Found:
    """The commands of the Maven or Gradle build at the root."""
    if listing.has("pom.xml"):
        maven = ("sh", "mvnw") if listing.has("mvnw") else ("mvn",)
        quiet = (*maven, "-B", "-ntp")
        return Found(
            commands=Commands(
                setup=(command("pom.xml", *quiet, "-q", "dependency:go-offline"),),
                build=(command("pom.xml", *quiet, "-q", "test-compile"),),
                test=(command("pom.xml", *quiet, "test"),),
            )
        )
    manifest = listing.first("", _GRADLE_FILES)
    if not manifest:
        return Found()
    gradle = (*(("sh", "gradlew") if listing.has("gradlew") else ("gradle",)), "--no-daemon", "--console=plain")
    return Found(
        commands=Commands(
            setup=(command(manifest, *gradle, "-q", "testClasses"),),
            build=(command(manifest, *gradle, "assemble"),),
            test=(command(manifest, *gradle, "test", "--continue"),),
        )
    )
